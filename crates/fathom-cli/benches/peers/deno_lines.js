// Stands in for the one function that dspy's interpreter fetches when it starts, where that cannot be reached.

export async function* readLines(reader) {
  let begun = [];
  for await (const chunk of reader.readable.pipeThrough(new TextDecoderStream())) {
    const lines = chunk.split("\n");
    begun.push(lines.shift());
    for (const next of lines) {
      yield begun.join("");
      begun = [next];
    }
  }
  const last = begun.join("");
  if (last) yield last;
}
