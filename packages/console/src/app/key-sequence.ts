/** Matches key presses to shortcuts: a single key, a key with Ctrl or ⌘, or a sequence of two such as `g t`. */

export interface KeyPress {
  readonly key: string
  readonly isMod: boolean
}

export interface KeyMatch {
  readonly name: string
  /** This is the first key of a sequence; the next key decides. */
  readonly isPrefix: boolean
}

/** Maximum time between the two keys. */
const sequenceTimeoutMs = 1_200

export function createKeySequence(now: () => number): (press: KeyPress, known: readonly string[]) => KeyMatch {
  let first: { readonly name: string; readonly until: number } | undefined
  return ({ key, isMod }, known) => {
    const name = isMod ? `mod+${key.toLowerCase()}` : key
    const both = first !== undefined && now() <= first.until ? `${first.name} ${name}` : undefined
    first = undefined
    if (both !== undefined && known.includes(both)) return { name: both, isPrefix: false }
    const isPrefix = !known.includes(name) && known.some((one) => one.startsWith(`${name} `))
    if (isPrefix) first = { name, until: now() + sequenceTimeoutMs }
    return { name, isPrefix }
  }
}

const keyNames: Readonly<Record<string, string>> = {
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  ' ': 'Space',
}

/** The key labels of a shortcut, one by one. */
export function keyCaps(key: string, isMac: boolean): readonly string[] {
  if (key === ' ') return ['Space']
  return key.split(' ').flatMap((one) => {
    const [, plain = one] = /^mod\+(.+)$/.exec(one) ?? []
    const cap = keyNames[plain] ?? (one === plain ? plain : plain.toUpperCase())
    return one === plain ? [cap] : [isMac ? '⌘' : 'Ctrl', cap]
  })
}
