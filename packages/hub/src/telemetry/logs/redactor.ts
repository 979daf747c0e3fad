/**
 * Redacts logs: values that the configuration marks as secret, fields with the name of a secret, and everything that looks like a
 * credential. Many more people read a log than may know these.
 */
import { hideInArguments, hideInCommand, hideInUrls } from '../../config/secret-text.ts'

export const redactedText = '[redacted]'

export interface Redactor {
  text(text: string): string
  /** Whether the value of a field of this name is hidden entirely. */
  isSecret(name: string): boolean
}

const secretName =
  /(^|[-_.])(secrets?|token|passwords?|passwd|passphrase|credentials?|authorization|cookies?|api[-_]?keys?|private[-_]?key|signature)$/i

/** Each with the part that stays, so that people recognize it. */
const credentialPatterns: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${redactedText}`],
  [/\b(pka?_[0-9A-Za-z]{12})_[0-9A-Za-z]{38}\b/g, `$1_${redactedText}`],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, redactedText],
  [/\b(sk|rk|ghp|gho|xoxb|xoxp)[-_][\w-]{16,}/g, `$1-${redactedText}`],
]

/** Shorter ones would match parts of ordinary words. */
const minSecretLength = 8

export function createRedactor(secrets: readonly string[] = []): Redactor {
  // Programs write a secret of several lines, such as a private key, line by line.
  const lines = secrets.filter((secret) => secret.includes('\n')).flatMap((secret) => secret.split('\n'))
  const known = [...new Set([...secrets, ...lines.map((line) => line.trim())])]
    .filter((secret) => secret.length >= minSecretLength)
    .toSorted((a, b) => b.length - a.length)
  return {
    text(text) {
      let shown = text
      for (const secret of known) if (shown.includes(secret)) shown = shown.replaceAll(secret, redactedText)
      for (const [pattern, replacement] of credentialPatterns) shown = shown.replace(pattern, replacement)
      return hideInUrls(shown, () => redactedText)
    },
    isSecret: (name) => secretName.test(name.replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')),
  }
}

/** Hides the secrets that `values` returns at the time, too. Earlier ones stay hidden: an old error may contain them. */
export function createSecretRedactor(values: () => ReadonlyMap<string, string>): (text: string) => string {
  const known = new Set<string>()
  let last: ReadonlyMap<string, string> | undefined
  let redact = createRedactor()
  return (text) => {
    const current = values()
    // Another map after each change.
    if (current !== last) {
      last = current
      for (const secret of current.values()) known.add(secret)
      redact = createRedactor([...known])
    }
    return redact.text(text)
  }
}

/** Maps whose values are always redacted. */
const secretMap = /^(headers|env|environment)$/i

/** The secrets of a configuration: fields with the name of a secret, and values from the environment. */
export function collectSecrets(
  tree: unknown,
  isReference: (path: readonly (string | number)[]) => boolean,
): readonly string[] {
  const found: string[] = []
  const { isSecret } = createRedactor()
  const note = (secret: string): string => {
    found.push(secret)
    return redactedText
  }
  const visit = (value: unknown, path: readonly (string | number)[], isInside: boolean): void => {
    const name = String(path.at(-1) ?? '')
    const hides = isInside || isSecret(name) || /key$/i.test(name) || isReference(path)
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
