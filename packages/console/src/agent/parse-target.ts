/** Parses the input of the add-agent field: a URL, or a command split into words as a shell would split it. */

export function parseTarget(text: string): string | readonly string[] | undefined {
  const target = text.trim()
  if (target === '') return undefined
  if (isUrl(target)) return target
  const words = splitCommandLine(target)
  return words.length === 0 ? undefined : words
}

export function isUrl(text: string): boolean {
  return /^(https?|wss?|grpcs?):\/\/\S+$/i.test(text.trim())
}

/** Quotes keep words together. No other character is special, because no shell runs the command. */
export function splitCommandLine(text: string): readonly string[] {
  const words = text.matchAll(/(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*"|['"\\])+/gs)
  return [...words].map(([word]) => unquoted(word))
}

function unquoted(word: string): string {
  return word.replaceAll(
    /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs,
    (_, single?: string, double?: string, plain?: string) => {
      return single ?? plain ?? (double ?? '').replaceAll(/\\(["\\])/g, '$1')
    },
  )
}
