/**
 * What must not stand in a log: values that the configuration calls secret, fields that are called like one, and whatever
 * looks like a credential. A log is read by many more than may know these.
 */
import { hideInArguments, hideInCommand, hideInUrls } from '../config/secret-text.ts'

export const redacted = '[redacted]'

export interface Redact {
  text(text: string): string
  /** Whether what a field of this name holds is not shown at all. */
  isSecret(name: string): boolean
}

const secretName =
  /(^|[-_.])(secrets?|token|passwords?|passwd|passphrase|credentials?|authorization|cookies?|api[-_]?keys?|private[-_]?key|signature)$/i

/** Each with what may stay of it, so that people still know what it was. */
const looks: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${redacted}`],
  [/\b(pka?_[0-9A-Za-z]{12})_[0-9A-Za-z]{38}\b/g, `$1_${redacted}`],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, redacted],
  [/\b(sk|rk|ghp|gho|xoxb|xoxp)[-_][\w-]{16,}/g, `$1-${redacted}`],
]

/** Shorter ones would be found in words that are none. */
const shortest = 8

export function createRedact(secrets: readonly string[] = []): Redact {
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= shortest)
    .toSorted((a, b) => b.length - a.length)
  return {
    text(text) {
      let shown = text
      for (const secret of known) if (shown.includes(secret)) shown = shown.replaceAll(secret, redacted)
      for (const [form, left] of looks) shown = shown.replace(form, left)
      return hideInUrls(shown, () => redacted)
    },
    isSecret: (name) => secretName.test(name.replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')),
  }
}

/** Maps whose values are nobody's business, whatever they are called. */
const secretMap = /^(headers|env|environment)$/i

/** The secrets that a configuration holds: what is called like one, and what came out of the environment. */
export function secretsIn(
  tree: unknown,
  isReferred: (path: readonly (string | number)[]) => boolean,
): readonly string[] {
  const found: string[] = []
  const { isSecret } = createRedact()
  const note = (secret: string): string => {
    found.push(secret)
    return redacted
  }
  const visit = (value: unknown, path: readonly (string | number)[], isInside: boolean): void => {
    const name = String(path.at(-1) ?? '')
    const hides = isInside || isSecret(name) || /key$/i.test(name) || isReferred(path)
    if (typeof value === 'string') {
      if (hides) found.push(value)
      else hideInCommand(value, note)
    } else if (Array.isArray(value)) {
      hideInArguments(
        value.filter((one) => typeof one === 'string'),
        note,
      )
      for (const [index, one] of value.entries()) visit(one, [...path, index], hides)
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, one] of Object.entries(value)) visit(one, [...path, key], isInside || secretMap.test(name))
    }
  }
  visit(tree, [], false)
  return found
}
