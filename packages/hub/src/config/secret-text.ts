/**
 * Redacts secrets inside a longer text: in the user part or query of a URL, after a flag of a command, in an assignment or a
 * header. The surrounding text stays readable. It errs towards hiding: a value hidden without need costs a look at the file, a
 * shown secret is lost.
 */
import { attempt } from '../json/attempt.ts'

/** What is shown instead of a secret. */
export const hiddenText = '(not shown)'

/** Returns the replacement for a secret. */
export type HideSecret = (secret: string) => string

const wholeWord = /(^|[^a-z])(key|sig|auth|pass|code|jwt|sas|pwd|pat)$/i
const anywhere =
  /secret|token(?!s$)|passw|passphrase|credential|authorization|cookie|api-?key|access-?key|private-?key|signature|bearer/i

/** Whether the value of this query parameter, flag, variable or header is a secret. */
export function isSecretWord(name: string): boolean {
  const words = decoded(name)
    .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
  return wholeWord.test(words) || anywhere.test(words)
}

/** Redacts secrets in URLs, anywhere in the text. */
export function hideInUrls(text: string, hide: HideSecret): string {
  if (!text.includes('://') && !text.includes('?')) return text
  return text
    .replaceAll(/([a-z][a-z0-9+.-]*:\/\/)([^\s/?#"'<>]*)@/gi, (_, scheme: string, user: string) => {
      return `${scheme}${hideUser(user, hide)}@`
    })
    .replaceAll(/([?&;#])([^=&;#?\s"'<>]+)=([^&;#\s"'<>]+)/g, (whole, mark: string, name: string, value: string) => {
      return isSecretWord(name) && !isReference(value) ? `${mark}${name}=${hide(value)}` : whole
    })
}

function hideUser(user: string, hide: HideSecret): string {
  const colon = user.indexOf(':')
  // A user name without a password is a token, as in repository URLs.
  if (colon < 0) return user === '' || isReference(user) ? user : hide(user)
  const password = user.slice(colon + 1)
  return password === '' || isReference(password) ? user : `${user.slice(0, colon)}:${hide(password)}`
}

/** Redacts secrets in a command given as a list: after a flag (`--api-key X`, `--token=X`), in `NAME_TOKEN=X`, in a header. */
export function hideInArguments(words: readonly string[], hide: HideSecret): readonly string[] {
  let isNext = false
  return words.map((word) => {
    const isValue = isNext && (!word.startsWith('-') || isShapedLikeSecret(word))
    const [, flag] = /^--?([A-Za-z][\w.-]*)$/.exec(word) ?? []
    isNext = flag !== undefined && isSecretWord(flag)
    return isValue && !isReference(word) ? hide(word) : hideInWord(word, hide)
  })
}

/** Redacts secrets in a command given as one string. */
export function hideInCommand(text: string, hide: HideSecret): string {
  // Splits into words, with quoted text as part of a word, and the whitespace between them.
  const pieces = text.match(/\s+|(?:"[^"]*"|'[^']*'|[^\s"'])+|["']/g) ?? []
  const isWord = (piece: string): boolean => piece.trim() !== ''
  const words = hideInArguments(pieces.filter(isWord).map(unquoted), hide)
  let at = 0
  const made = pieces.map((piece) => (isWord(piece) ? piece.replace(unquoted(piece), () => words[at++] ?? '') : piece))
  return made.join('')
}

/** Removes surrounding quotes. */
function unquoted(word: string): string {
  return /^(["'])(.*)\1$/s.exec(word)?.[2] ?? word
}

function hideInWord(word: string, hide: HideSecret): string {
  const [, before, name = '', sign, value = ''] = /^(-{0,2})([A-Za-z][\w.-]*)(=|:\s*)(.+)$/s.exec(word) ?? []
  if (isSecretWord(name) && !value.startsWith('//')) {
    return isReference(value) ? word : `${before}${name}${sign}${hide(value)}`
  }
  return isShapedLikeSecret(word) ? hide(word) : hideInUrls(word, hide)
}

/** Matches the key formats of well-known services, and tokens. */
function isShapedLikeSecret(word: string): boolean {
  return /^(sk|rk|ghp|gho|ghs|github_pat|glpat|xox[a-z]|pka?)[-_][\w-]{16,}$|^AKIA[0-9A-Z]{16}$|^eyJ[\w-]{8,}\.[\w-]+\.[\w-]*$/.test(
    word,
  )
}

/** `${env:KEY}` refers to a secret and is not one. */
function isReference(text: string): boolean {
  return /^\$\{[^}]*\}$/.test(text)
}

function decoded(name: string): string {
  return attempt(() => decodeURIComponent(name)) ?? name
}
