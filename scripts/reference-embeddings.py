#!/usr/bin/env python3
"""Write the reference that the embeddings of `fathom-local` are compared with.

The original 32-bit weights of all-MiniLM-L6-v2 go through sentence-transformers, which is not part of Fathom. The result
is checked in, so this runs only when the sentences change:

    python3 -m venv VENV && VENV/bin/pip install sentence-transformers
    VENV/bin/python scripts/reference-embeddings.py MODEL_FOLDER

MODEL_FOLDER holds `model.safetensors`, `tokenizer.json`, `modules.json` and the rest as they are published.
"""

import hashlib
import importlib.metadata
import json
import os
import pathlib
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

# A vector has length one, so six decimals leave an error of at most a hundred-thousandth in a cosine.
DECIMALS = 6
TARGET = pathlib.Path(__file__).parent.parent / "crates/fathom-local/tests/data/reference-embeddings.json"

LONG = (
    "The harbour had been quiet since the ferry stopped running, and most of those who used to live from it had moved "
    "inland, where the factory still hired people for the season. "
)

SENTENCES = [
    # Plain English, short to middling.
    "The cat sat on the mat.",
    "A dog is chasing its own tail in the garden.",
    "Budgets are reserved before a call and settled after it.",
    "Never send anything that a person has not approved.",
    "You must answer in at most three sentences.",
    "Is there any milk left in the fridge?",
    "What a wonderful morning!",
    "She sells sea shells by the sea shore, doesn't she?",
    "The committee postponed its decision until the figures had been audited.",
    "Rain is expected in the north, with some snow above a thousand metres.",
    "He said: \"I'll be back before you notice\", and closed the door.",
    "no capitals no punctuation just words in a row",
    "SHOUTING IS RARELY A GOOD WAY TO CONVINCE ANYONE",
    "Photosynthesis turns light, water and carbon dioxide into sugar and oxygen.",
    "The defendant shall pay the costs of the proceedings.",
    # German, and other languages with accents or without spaces.
    "Die Katze sitzt auf der Fensterbank und schaut hinaus.",
    "Der Zug nach München fährt heute ausnahmsweise von Gleis sieben ab.",
    "Größere Änderungen müssen vorher von zwei Personen freigegeben werden.",
    "Donaudampfschifffahrtsgesellschaftskapitän ist ein sehr langes Wort.",
    "Ohne Strom läuft nichts, mit zu viel Strom läuft bald auch nichts mehr.",
    "Le chat noir dort sur le canapé près de la fenêtre.",
    "¿Dónde está la biblioteca más cercana?",
    "Съешь же ещё этих мягких французских булок.",
    "今日はとても天気がいいですね。",
    "人工智能正在改变我们的生活。",
    # Code and what looks like it.
    "fn main() { println!(\"hello\"); }",
    "SELECT name, COUNT(*) FROM users WHERE age >= 18 GROUP BY name HAVING COUNT(*) > 1;",
    "for i in range(10): total += values[i] ** 2",
    "error[E0382]: borrow of moved value: `buffer`",
    "git rebase --onto main feature~3 feature",
    "https://example.com/a/b?c=d&e=%20f#g",
    "{\"key\": [1, 2.5, null, true], \"nested\": {\"a\": \"b\"}}",
    "std::collections::HashMap<String, Vec<Option<u64>>>",
    # Numbers, units, dates.
    "3.14159 26535 89793 23846",
    "The invoice of 12 March 2024 amounts to 1,234.56 euros, due within 30 days.",
    "Temperature: -12.5 °C, pressure: 1013 hPa, humidity: 87 %",
    "+49 30 1234567",
    "2 + 2 = 4, and 7 × 8 = 56",
    # Emoji, symbols, odd spacing, near nothing.
    "I love this so much 😍🔥🎉",
    "👩‍👩‍👧‍👦 family time 🇩🇪",
    "→ next step ✓ done ✗ failed",
    "   leading,\ttabs\tand\n\nnew   lines   ",
    "ok",
    "?",
    "[MASK] and [SEP] are words of the model itself",
    # Long ones: about 60, 130, 250 and 500 word pieces, so the last two meet the cut at 256.
    LONG * 2,
    LONG * 4,
    LONG * 8,
    "Clause after clause, " * 130 + "and no end.",
    "Die Prüfung der Unterlagen ergab keine Beanstandungen, weshalb der Antrag im vereinfachten Verfahren genehmigt und "
    "der Betrag in Höhe von 4.500 Euro am nächsten Werktag angewiesen wurde. " * 3,
]


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main():
    folder = pathlib.Path(sys.argv[1])
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(folder), device="cpu")
    # One at a time: no padding, so nothing but the sentence itself has a say.
    vectors = [model.encode(sentence, normalize_embeddings=True).tolist() for sentence in SENTENCES]
    reference = {
        "model": "sentence-transformers/all-MiniLM-L6-v2",
        "max_seq_length": model.max_seq_length,
        "sha256": {name: sha256(folder / name) for name in ("model.safetensors", "tokenizer.json")},
        "versions": {
            name: importlib.metadata.version(name)
            for name in ("sentence-transformers", "transformers", "tokenizers", "torch")
        },
        "sentences": [
            {"text": text, "vector": [round(x, DECIMALS) for x in vector]} for text, vector in zip(SENTENCES, vectors)
        ],
    }
    lines = json.dumps(reference, ensure_ascii=False, separators=(",", ":")).replace('{"text"', '\n{"text"')
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(lines + "\n", encoding="utf-8")
    print(f"{len(SENTENCES)} sentences, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
