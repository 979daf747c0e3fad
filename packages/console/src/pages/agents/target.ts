/** What somebody puts into the one box: an address, or a command in its words, as a shell would read them. */

export function targetOf(text: string): string | readonly string[] | undefined {
  const said = text.trim()
  if (said === '') return undefined
  if (isAddress(said)) return said
  const words = wordsOf(said)
  return words.length === 0 ? undefined : words
}

export function isAddress(text: string): boolean {
  return /^(https?|wss?|grpcs?):\/\/\S+$/i.test(text.trim())
}

/** Quotes hold words together; nothing else means anything, because no shell is asked. */
export function wordsOf(text: string): readonly string[] {
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
