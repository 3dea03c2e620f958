#!/usr/bin/env python3
"""Writes made-up data to try things on: python3 examples/generate.py SEED KIND SIZE > file

KIND is one of
  log            lines of a server log, one of which holds something that is nowhere else
  tickets-jsonl  support tickets, one JSON object a line
  tickets-csv    the same tickets as CSV
  contract-a     a long contract
  contract-b     the same contract (of the same seed and size) with three clauses changed
SIZE is a number of lines, or of bytes with KB or MB behind it.

The same seed gives the same bytes. What was hidden goes to stderr as one line of JSON: a question and its answer.
"""
import csv
import io
import json
import random
import re
import sys

ANIMALS = "heron otter lynx raven badger marten falcon viper bison ibex".split()
COLOURS = "amber cobalt crimson ivory jade olive ruby silver teal violet".split()
NAMES = "Ada Bela Carla Dimitri Elif Farid Greta Hugo Ines Jonas".split()
CITIES = "Riga Porto Graz Lyon Turku Bergen Split Ghent Cork Brno".split()

NEEDLES = [
    ("the maintenance password for rack {n} was changed to {colour}-{animal}-{m}",
     "What is the new maintenance password of rack {n}?", "{colour}-{animal}-{m}"),
    ("{name} left the spare key of the {city} archive in locker {m}",
     "Where is the spare key to the archive in {city}?", "locker {m}"),
    ("project {animal} was moved to the {city} office after the audit",
     "Which office did project {animal} go to?", "{city}"),
    ("the courier collected parcel {colour}-{m} on behalf of {name}",
     "Who had parcel {colour}-{m} picked up?", "{name}"),
    ("operator note: the {colour} valve must stay below {m} millibar",
     "What is the highest pressure allowed for the {colour} valve?", "{m} millibar"),
]

NOISE = [
    "INFO  http: GET /api/v1/items/%(a)d 200 %(b)d ms client 10.%(c)d.%(d)d.%(e)d",
    "INFO  http: POST /api/v1/orders 201 %(b)d ms client 10.%(c)d.%(d)d.%(e)d",
    "DEBUG cache: hit for key user:%(a)d ttl %(b)d",
    "INFO  worker: job %(a)x done in %(b)d ms on rack %(c)d",
    "WARN  db: slow query took %(b)d ms, table orders, shard %(c)d",
    "INFO  auth: user%(c)d changed password, session %(a)x",
    "ERROR mail: could not deliver message %(a)x, attempt %(d)d",
    "INFO  disk: volume %(c)d at %(d)d percent, office network",
]

SUBJECTS = {
    "billing": ["I was charged twice for my order", "The invoice shows the wrong amount", "Please refund the fee of last month"],
    "delivery": ["My parcel has not arrived", "The driver left the box with a neighbour", "When will the order be shipped"],
    "login": ["I cannot sign in any more", "The code by text message never comes", "My account is locked"],
    "returns": ["The shoes do not fit and I want to send them back", "How do I return a broken lamp", "The return label does not print"],
    "praise": ["Your team was very kind, thank you", "Great service as always", "I love the new app"],
}
WEIGHTS = {"billing": 30, "delivery": 25, "login": 20, "returns": 15, "praise": 10}

CLAUSES = [
    "The supplier shall deliver the goods listed in annex {n} to the {city} site within {d} days of the order.",
    "The buyer may inspect batch {n} at the {city} plant on any working day with notice of {d} days.",
    "Records on item {n} are kept in {city} for {d} months after the end of this contract.",
    "Notices under section {n} are sent to the office in {city} and take effect after {d} days.",
    "Fault class {n} is repaired by the {city} team within {d} hours of the report.",
]
SPECIAL = [
    ("Payment is due within {a} days of the invoice date.", "How did the time for payment change?", 30, 60),
    ("Either party may end this contract with notice of {a} weeks.", "How did the notice for ending the contract change?", 12, 4),
    ("The liability of the supplier is limited to {a} euros for each event.", "How did the limit of liability change?", 500000, 250000),
]


def tell(question, answer):
    print(json.dumps({"question": question, "answer": answer}), file=sys.stderr)


def enough(size):
    """Tells whether lines and bytes written so far are what was asked for."""
    for suffix, factor in (("KB", 1000), ("MB", 1000000)):
        if size.upper().endswith(suffix):
            limit = int(float(size[:-2]) * factor)
            return lambda lines, length: length >= limit
    limit = int(size)
    return lambda lines, length: lines >= limit


def write_all(lines):
    batch = []
    for line in lines:
        batch.append(line)
        if len(batch) == 20000:
            sys.stdout.write("".join(batch))
            batch.clear()
    sys.stdout.write("".join(batch))


def make_log(chance, size):
    said, asked, answer = chance.choice(NEEDLES)
    words = {"n": chance.randrange(100, 999), "m": chance.randrange(1000, 9999), "animal": chance.choice(ANIMALS),
             "colour": chance.choice(COLOURS), "name": chance.choice(NAMES), "city": chance.choice(CITIES)}
    tell(asked.format(**words), answer.format(**words))
    needle, place, done = "INFO  desk: " + said.format(**words), chance.random(), enough(size)
    second, lines, length, pending = 0, [], 0, True
    while not done(len(lines), length):
        second += chance.randrange(3)
        row = chance.choice(NOISE) % {"a": chance.getrandbits(31), "b": chance.randrange(2000), "c": chance.randrange(256),
                                      "d": chance.randrange(100), "e": chance.randrange(256)}
        day, rest = divmod(second, 86400)
        lines.append("2026-%02d-%02d %02d:%02d:%02d %s\n" % (1 + day // 28 % 12, 1 + day % 28, rest // 3600, rest // 60 % 60, rest % 60, row))
        length += len(lines[-1])
    at = int(place * len(lines))
    lines.insert(at, (lines[at][:20] if lines else "") + needle + "\n")
    write_all(lines)


def make_tickets(chance, size, as_csv):
    done, lines, length, counts = enough(size), 0, 0, dict.fromkeys(WEIGHTS, 0)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if as_csv:
        writer.writerow(["id", "opened", "category", "priority", "minutes", "text"])
    while not done(lines, length):
        category = chance.choices(list(WEIGHTS), WEIGHTS.values())[0]
        counts[category] += 1
        ticket = {"id": 10000 + lines, "opened": "2026-%02d-%02d" % (chance.randrange(1, 13), chance.randrange(1, 29)),
                  "category": category, "priority": chance.choice(["low", "normal", "normal", "high"]),
                  "minutes": chance.randrange(1, 240),
                  "text": "%s (%s, %s)" % (chance.choice(SUBJECTS[category]), chance.choice(NAMES), chance.choice(CITIES))}
        start = buffer.tell()
        if as_csv:
            writer.writerow(ticket.values())
        else:
            buffer.write(json.dumps(ticket) + "\n")
        lines, length = lines + 1, length + buffer.tell() - start
    tell("How many tickets are there in each category?", counts)
    sys.stdout.write(buffer.getvalue())


def make_contract(chance, size, changed):
    done, lines, length = enough(size), [], 0
    while not done(len(lines), length):
        clause = chance.choice(CLAUSES).format(n=chance.randrange(1, 100000), city=chance.choice(CITIES), d=chance.randrange(2, 90))
        lines.append("%d. %s\n" % (len(lines) + 1, clause))
        length += len(lines[-1])
    places = sorted(chance.sample(range(len(lines)), len(SPECIAL)))
    for place, (clause, question, old, new) in zip(places, SPECIAL):
        lines[place] = "%d. %s\n" % (place + 1, clause.format(a=new if changed else old))
        tell(question, "from %d to %d" % (old, new))
    write_all(lines)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    seed, kind, size = sys.argv[1:]
    if not re.fullmatch(r"\d+", seed) or not re.fullmatch(r"\d+(\.\d+)?[KkMm][Bb]|\d+", size):
        sys.exit("invalid seed `%s` or size `%s`; expected e.g. 7 and 50MB, or 5000 for lines" % (seed, size))
    chance = random.Random(int(seed))
    makers = {
        "log": lambda: make_log(chance, size),
        "tickets-jsonl": lambda: make_tickets(chance, size, False),
        "tickets-csv": lambda: make_tickets(chance, size, True),
        "contract-a": lambda: make_contract(chance, size, False),
        "contract-b": lambda: make_contract(chance, size, True),
    }
    if kind not in makers:
        sys.exit("unknown kind `%s`; expected one of %s" % (kind, ", ".join(makers)))
    makers[kind]()


main()
