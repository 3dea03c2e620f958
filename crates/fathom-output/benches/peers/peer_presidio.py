"""Presidio's pattern recognisers on texts from standard input, without a language model.

Reads a JSON list of texts; writes what was found in each under our names, and how long that took.
"""

import inspect
import json
import logging
import sys
import time
from importlib.metadata import version

logging.disable(logging.CRITICAL)

from presidio_analyzer import PatternRecognizer, predefined_recognizers
from presidio_analyzer.predefined_recognizers import PhoneRecognizer

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
    "DE_STEUER_ID": "de_steuer_id",
    "FR_NIR": "fr_nir",
    "NL_BSN": "nl_bsn",
    "BR_CPF": "br_cpf",
}


def recognisers():
    """Every pattern recogniser that comes with it and whose entity is one of ours, and that of phones."""
    chosen = []
    for name in predefined_recognizers.__all__:
        kind = getattr(predefined_recognizers, name)
        if not inspect.isclass(kind) or not issubclass(kind, PatternRecognizer) or kind is PatternRecognizer:
            continue
        try:
            one = kind()
        except Exception:
            continue
        if any(entity in NAMES for entity in one.supported_entities):
            chosen.append(one)
    chosen.append(PhoneRecognizer())
    return chosen


def main():
    texts = json.load(sys.stdin)
    all_of_them = recognisers()
    found = []
    begin = time.perf_counter()
    for text in texts:
        here = []
        for one in all_of_them:
            entities = [entity for entity in one.supported_entities if entity in NAMES]
            for result in one.analyze(text, entities, None) or []:
                here.append([NAMES[result.entity_type], result.start, result.end])
        found.append(here)
    seconds = time.perf_counter() - begin
    json.dump({"version": version("presidio-analyzer"), "seconds": seconds, "found": found}, sys.stdout)


main()
