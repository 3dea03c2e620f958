STOP_WORDS = frozenset("""a about after all also an and any are as at be been before between but by can could did do does
for from give go had has have her his how i if in into is it its list many me more most much must my name no not of on or
our please say says she should show since so some such tell than that the their them then there these they this to under
until up was we were what when where which while who whom whose why will with would you your find value line lines file
text context data document material exactly exact new""".split())


# Words of a question, and claims that rest on words.

def _stem(word):
    for end in ("ations", "ation", "ings", "ing", "ies", "ed", "es", "s", "e"):
        if word.endswith(end) and len(word) - len(end) >= 4:
            return word[:len(word) - len(end)]
    return word


def _terms(question, keywords):
    """What to look for, with its weight."""
    terms = {}
    for word in [keywords] if isinstance(keywords, str) else keywords:
        word = _lower(" ".join(str(word).split()))
        if word:
            terms[word] = 1.5
    for words in re.findall(r'["“”«»`]([^"“”«»`]{3,80})["“”«»`]', question):
        terms.setdefault(_lower(words), 2.0)
    for word in re.findall(r"[^\W_]+(?:[-_.:/@][^\W_]+)*", _lower(question)):
        if word in STOP_WORDS:
            continue
        if re.search(r"\d|\W|_", word):
            terms.setdefault(word, 1.5)
            for part in re.split(r"[\W_]+", word):
                if len(part) > 2 and part not in STOP_WORDS:
                    terms.setdefault(_stem(part), 0.5)
        elif len(word) > 1:
            terms.setdefault(_stem(word), 1.0)
    return dict(itertools.islice(terms.items(), 24))


def _plain(text):
    return " ".join(text.split()).casefold()


def _supported(claim, source):
    """Whether each number and most longer words of a claim stand in the source."""
    source = _plain(source)
    claim = re.sub(r"\[\d\]", "", claim)
    if any(number not in source for number in re.findall(r"\d[\d.,:-]*\d|\d", claim)):
        return False
    words = [_stem(word) for word in re.findall(r"[^\W\d_]{4,}", claim.casefold()) if word not in STOP_WORDS]
    return sum(word in source for word in words) * 2 >= len(words)
