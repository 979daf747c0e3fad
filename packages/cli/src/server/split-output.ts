/** Cuts a stream of text after each delimiter. Keeps the delimiters, so that the pieces together are the text. */

export interface OutputSplitter {
  /** The pieces that this text completes. */
  push(text: string): readonly string[]
  /** The rest, which no delimiter ended. */
  rest(): string
}

export function createOutputSplitter(delimiter: string): OutputSplitter {
  let pending = ''
  return {
    push(text) {
      const pieces: string[] = []
      // A delimiter may begin in the text before.
      let from = Math.max(0, pending.length - delimiter.length + 1)
      pending += text
      for (let at = pending.indexOf(delimiter, from); at >= 0; at = pending.indexOf(delimiter, from)) {
        pieces.push(pending.slice(0, at + delimiter.length))
        pending = pending.slice(at + delimiter.length)
        from = 0
      }
      return pieces
    },
    rest() {
      const last = pending
      pending = ''
      return last
    },
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', 0: '\0', '\\': '\\' }

/** `\n`, `\t`, `\r`, `\0` and `\\` as a shell passes them on, without a meaning of their own. */
export function unescapeDelimiter(text: string): string {
  return text.replaceAll(/\\([nrt0\\])/g, (_, letter: string) => escapes[letter] ?? letter)
}
