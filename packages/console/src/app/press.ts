/** Which key was meant: one alone, one with Ctrl or ⌘, or two after each other such as `g t`. */

export interface Press {
  readonly key: string
  readonly isMod: boolean
}

export interface Meant {
  readonly name: string
  /** It is the first of two: the next one says what is meant. */
  readonly isFirst: boolean
}

/** How long the second may take. */
const patienceMs = 1_200

export function createPresses(now: () => number): (press: Press, known: readonly string[]) => Meant {
  let first: { readonly name: string; readonly until: number } | undefined
  return ({ key, isMod }, known) => {
    const name = isMod ? `mod+${key.toLowerCase()}` : key
    const both = first !== undefined && now() <= first.until ? `${first.name} ${name}` : undefined
    first = undefined
    if (both !== undefined && known.includes(both)) return { name: both, isFirst: false }
    const isFirst = !known.includes(name) && known.some((one) => one.startsWith(`${name} `))
    if (isFirst) first = { name, until: now() + patienceMs }
    return { name, isFirst }
  }
}

const words: Readonly<Record<string, string>> = {
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  ' ': 'Space',
}

/** What is printed on the keys, one by one. */
export function keyCaps(key: string, isMac: boolean): readonly string[] {
  if (key === ' ') return ['Space']
  return key.split(' ').flatMap((one) => {
    const [, plain = one] = /^mod\+(.+)$/.exec(one) ?? []
    const cap = words[plain] ?? (one === plain ? plain : plain.toUpperCase())
    return one === plain ? [cap] : [isMac ? '⌘' : 'Ctrl', cap]
  })
}
