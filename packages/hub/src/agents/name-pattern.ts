/** Whether a name matches a pattern in which `*` stands for any characters. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  if (others.length === 0) return pattern === name
  if (!name.startsWith(first)) return false
  const last = others.pop() ?? ''
  // Takes the first match of each piece after the previous one. No regular expression that a name could make slow.
  let at = first.length
  for (const piece of others) {
    const found = name.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}
