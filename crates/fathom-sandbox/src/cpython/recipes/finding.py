TEMPLATES_MAX = 200000      # Kinds of lines that are told apart.
HITS_MAX = 5000             # Of a word; one that is more frequent finds nothing by itself.
CANDIDATES = 64


# The lines that hold words of a question.

def _counted(sources, terms):
    """Occurrences of each term, lines of each kind, and the number of lines."""
    seen, kinds, lines = dict.fromkeys(terms, 0), collections.Counter(), 0
    for _, source in sources:
        for piece in _pieces(source):
            low = _lower(piece)
            for term in seen:
                # A short word stands in many longer ones.
                seen[term] += low.count(term) if len(term) > 3 else low.count(" " + term)
            lines += low.count("\n") + 1
            if kinds is not None:
                kinds.update(_kinds(low))
                if len(kinds) > TEMPLATES_MAX:
                    kinds = None  # Prose: each line is of its own kind.
    return seen, kinds, lines


def _window(piece, start, end, at):
    """A line, or what stands around a place in one that is very long."""
    if end - start <= 4 * LINE_CHARS_MAX:
        return start, end
    return max(start, at - LINE_CHARS_MAX // 2), min(end, at + LINE_CHARS_MAX // 2)


def _ranked(question, keywords, data):
    """The lines that most likely hold the answer, best first, each with the passage it stands in; and the words that weigh."""
    sources, terms = _sources(data), _terms(question, keywords)
    seen, kinds, total = _counted(sources, terms)
    weight = {term: terms[term] * math.log(1 + total / (1 + count)) for term, count in seen.items() if count}
    rare = [term for term in weight if seen[term] <= HITS_MAX]
    if not rare and weight:
        rare = sorted(weight, key=seen.get)[:1]
    single = None
    if kinds is not None:
        lone = sum(count for count in kinds.values() if count <= 3)
        single = lone <= 500
    best, order = [], itertools.count()
    for _, source in sources:
        for piece in _pieces(source):
            low = _lower(piece)
            spans = {}
            if kinds is not None:
                start = 0
                for line, kind in zip(low.split("\n"), _kinds(low)):
                    if kinds[kind] <= 3 and line and (single or any(term in line for term in weight)):
                        spans[start] = (start + len(line), start)
                    start += len(line) + 1
            for term in rare:
                at = low.find(term)
                for _ in range(HITS_MAX):
                    if at < 0:
                        break
                    start = low.rfind("\n", 0, at) + 1
                    end = low.find("\n", at)
                    end = len(low) if end < 0 else end
                    begin, stop = _window(low, start, end, at)
                    spans.setdefault(begin, (stop, at))
                    at = low.find(term, at + len(term))
            for start, (end, at) in spans.items():
                start, end = _window(low, start, end, at)
                line = low[start:end]
                score = sum(value for term, value in weight.items() if term in line)
                if kinds is None or total < 20:
                    rarity = 0.5
                else:
                    rarity = math.log(1 + total / (kinds[_kinds(line)[0]] or 1)) / math.log(1 + total)
                score = (score + rarity) * (0.25 + rarity)
                if len(best) < CANDIDATES or score > best[0][0]:
                    around = piece[max(0, start - 300):start], piece[end:end + 300]
                    found = (score, -next(order), piece[start:end], around)
                    (heapq.heappush if len(best) < CANDIDATES else heapq.heapreplace)(best, found)
    told, seen_lines = [], set()
    for score, _, line, (before, after) in sorted(best, reverse=True):
        if len(told) > 2 and score < top / 4:
            break  # Reading is what takes time.
        if line.strip() and line not in seen_lines:
            seen_lines.add(line)
            top = score if not told else top
            told.append((" ".join(line.split()), _passage(before, line, after, weight)))
    return told, weight


# Answers that stand in the source.

def _as_written(line, plain):
    """Where a plain text stands in a line, as it is written there; nothing where it does not."""
    line = " ".join(line.split())
    folded = line.casefold()
    at = folded.find(plain)
    if at < 0:
        return None
    if len(folded) > len(line):
        # Some letters are longer when small: `ß` is `ss`.
        places = [place for place, letter in enumerate(line) for _ in letter.casefold()]
        return line[places[at]:places[at + len(plain) - 1] + 1]
    return line[at:at + len(plain)]


def _copied(reply, lines, question):
    """The line that a reply was copied from, and what was copied of it; nothing when it stands in none."""
    said = _plain(reply[:1000].strip().strip("\"'`“”-*• ").rstrip("."))
    if not said or "not found" in said:
        return None
    asked = _plain(question)
    if said in asked:
        return None
    for line in lines:
        copy = _as_written(line, said)
        if copy:
            return line, copy
    # Words around a copy: the longest run that stands in a line and not in the question.
    words = said.split()
    for length in range(len(words) - 1, 0, -1):
        for start in range(len(words) - length + 1):
            run = " ".join(words[start:start + length]).strip("\"'`“”,;.")
            if run in asked or not re.search(r"\w", run) or (len(run) < 4 and not run.isdigit()) or run in STOP_WORDS:
                continue
            for line in lines:
                copy = _as_written(line, run)
                if copy:
                    return line, copy
    return None


def _judged(question, answer, line, rivals):
    """Whether a model takes the answer for one that this line gives. One that says no of a line without the answer as well
    says no to everything, and does not count."""
    def prompt(line):
        return "%sLine: %s\n\nQuestion: %s\nAnswer: %s\nDoes the line give this answer to the question? Reply yes or no." % (
            DATA, line, question, _shown(answer))

    if _agreed([prompt(line)])[0] is not False:
        return True
    rivals = [rival for rival in rivals if rival != line and _plain(answer) not in _plain(rival)][:1]
    return bool(rivals) and _agreed([prompt(rivals[0])])[0] is False and _stands_out(line, rivals, question)


def _stands_out(line, rivals, question):
    """Whether a line shares far more words with the question than others do."""
    words = [_stem(word) for word in re.findall(r"\w+", _lower(question)) if word not in STOP_WORDS]
    shared = lambda text: sum(word in _lower(text) for word in words)
    return shared(line) >= 2 + max(map(shared, rivals))


def find(question, keywords=(), data=None):
    """The answer to a question about one fact, copied from the material; None when it is not found."""
    ranked, wanted = _ranked(question, keywords, data)
    for first in range(0, min(len(ranked), 2 * LINES_SHOWN), LINES_SHOWN):
        lines = _side_by_side([line for line, _ in ranked[first:first + LINES_SHOWN]], wanted)
        for _ in range(2):
            if not lines:
                break
            prompt = "%s%s\n\nQuestion: %s\nReply with the answer alone, copied from the line that holds it, in as few words as " \
                     "possible. If no line answers the question, reply NOT FOUND." % (
                         DATA, "\n".join("- " + line for line in lines), question)
            found = _copied(_ask([prompt], 64)[0] or "", lines, question)
            if found is None:
                break
            line, answer = found
            if _judged(question, answer, line, lines):
                print("found in: " + _shown(line, wanted={_lower(answer): 1}))
                return answer
            lines.remove(line)
    return None


def filter_then_read(question, keywords=(), data=None):
    """An answer in a sentence or two, with the lines it rests on; None when nothing speaks of it."""
    ranked, wanted = _ranked(question, keywords, data)
    ranked = ranked[:4]
    if not ranked:
        return None
    parts = ["[%d] %s" % (number, passage) for number, (_, passage) in enumerate(ranked, 1)]
    prompt = "%s%s\n\nQuestion: %s\nAnswer in one or two sentences from these passages, and name the passage as [1]. If they do not " \
             "answer it, reply NOT FOUND." % (DATA, "\n".join(parts), question)
    reply = _ask([prompt], 120)[0]
    if not reply or "not found" in reply.lower():
        return None
    cited = sorted({int(number) for number in re.findall(r"\[(\d)\]", reply) if 0 < int(number) <= len(ranked)})
    cited = [ranked[number - 1] for number in cited] or ranked[:2]
    if not _supported(reply, " ".join(passage for _, passage in cited) + " " + question):
        return None
    return {"answer": re.sub(r"\s*\[\d\]", "", reply), "lines": [_shown(line, wanted=wanted) for line, _ in cited]}
