"""Presidio's pattern recognisers on texts from standard input, without a language model.

Reads a JSON list of texts; writes what was found in each under our names, with its score, and how long a core worked for it. What
cannot be used is told on standard error, and nothing is written when a recogniser that is compared is missing.
"""

import inspect
import json
import logging
import os
import sys
import time
from importlib.metadata import version

logging.disable(logging.CRITICAL)
# Names of hosts are checked against the list that comes with the package: nothing is fetched.
os.environ["TLDEXTRACT_PUBLIC_SUFFIX_LIST_URLS"] = ""

import tldextract  # noqa: E402
from presidio_analyzer import EntityRecognizer, PatternRecognizer, predefined_recognizers  # noqa: E402
from presidio_analyzer.predefined_recognizers import PhoneRecognizer  # noqa: E402

NAMES = {
    "EMAIL_ADDRESS": "email",
    "PHONE_NUMBER": "phone",
    "CREDIT_CARD": "card",
    "IBAN_CODE": "iban",
    "US_SSN": "us_ssn",
    "UK_NINO": "uk_nino",
    "UK_NHS": "uk_nhs",
    "ES_NIF": "es_dni",
    "ES_NIE": "es_dni",
    "IT_FISCAL_CODE": "it_codice_fiscale",
    "PL_PESEL": "pl_pesel",
    "IN_AADHAAR": "in_aadhaar",
    "IP_ADDRESS": "ip",
    "MAC_ADDRESS": "mac",
    "CRYPTO": "crypto",
    "DE_TAX_ID": "de_steuer_id",
}


def recognisers():
    """Every pattern recogniser that comes with it and whose entity is one of ours, and that of phones."""
    chosen = [PhoneRecognizer()]
    for name in predefined_recognizers.__all__:
        kind = getattr(predefined_recognizers, name)
        if not inspect.isclass(kind) or not issubclass(kind, PatternRecognizer) or kind is PatternRecognizer:
            continue
        try:
            one = kind()
        except Exception as error:
            print(f"{name} cannot be made: {error}", file=sys.stderr)
            continue
        if any(entity in NAMES for entity in one.supported_entities):
            chosen.append(one)
    there = {entity for one in chosen for entity in one.supported_entities}
    missing = sorted(set(NAMES) - there)
    if missing:
        sys.exit(f"no recogniser for {', '.join(missing)}")
    return chosen


def main():
    texts = json.load(sys.stdin)
    all_of_them = recognisers()
    # What is made at the first use is no part of the time.
    tldextract.extract("example.org")
    for one in all_of_them:
        one.analyze("a 1", one.supported_entities, None)
    found = []
    begin = time.process_time()
    for text in texts:
        results = []
        for one in all_of_them:
            results.extend(one.analyze(text, one.supported_entities, None) or [])
        found.append(EntityRecognizer.remove_duplicates(results))
    seconds = time.process_time() - begin
    found = [
        [[NAMES[one.entity_type], one.start, one.end, one.score] for one in here if one.entity_type in NAMES]
        for here in found
    ]
    json.dump({"version": version("presidio-analyzer"), "seconds": seconds, "found": found}, sys.stdout)


main()
