/** Removes secrets from diagnostic text: those that were registered, and credentials by their shape. No option turns it off. */

export interface Redactor {
  /** Registers a secret. One that is no credential, such as a service parameter, does not count for `hasSecrets`. */
  add(secret: string, isCredential?: boolean): void
  /** The text without secrets. */
  apply(text: string): string
  /** Whether a credential was registered: tells a missing credential from a rejected one. */
  readonly hasSecrets: boolean
}

export const redactedText = '[redacted]'

/** Shorter ones are common words or numbers: replacing them would damage text without hiding anything. */
const minSecretLength = 4

/** `Authorization: Bearer x`, `Cookie: a=b`; the value ends with the line. */
const headerLine = /^([ \t<>*]*(?:proxy-)?(?:authorization|cookie|set-cookie|x-api-key|api-key)\s*:\s*).+$/gim
/** Words that follow the name of a scheme in sentences are no tokens. */
const schemeToken =
  /\b(bearer|basic|dpop)(\s+)(?!(?:and|auth\w*|credentials?|is|or|schemes?|tokens?)\b)[\w\-._~+/]+=*/gi
/** In queries, forms and JSON: `access_token=x`, `"client_secret": "x"`. */
const namedValue =
  /(\b(?:access_token|refresh_token|id_token|client_secret|client_assertion|device_code|password|api[-_]?key|apikey)["']?\s*[=:]\s*["']?)[^\s"'&,}]+/gi
/** `https://user:password@host`. The length of the scheme is limited: text of an agent must not take quadratic time. */
const urlPassword = /(\b[a-z][a-z0-9+.-]{0,31}:\/\/[^\s/:@]*:)[^\s/@]+(@)/gi

export function createRedactor(): Redactor {
  const secrets = new Set<string>()
  let longestFirst: readonly string[] = []
  let hasSecrets = false
  return {
    add(secret, isCredential = true) {
      if (secret === '') return
      hasSecrets ||= isCredential
      for (const spelling of [
        secret,
        encodeURIComponent(secret),
        JSON.stringify(secret).slice(1, -1),
        toBase64(secret),
      ])
        secrets.add(spelling)
      longestFirst = [...secrets].toSorted((a, b) => b.length - a.length)
    },
    apply(text) {
      let safe = text
      for (const secret of longestFirst)
        if (secret.length >= minSecretLength) safe = safe.replaceAll(secret, redactedText)
      return safe
        .replace(headerLine, `$1${redactedText}`)
        .replace(schemeToken, `$1$2${redactedText}`)
        .replace(namedValue, `$1${redactedText}`)
        .replace(urlPassword, `$1${redactedText}$2`)
    },
    get hasSecrets() {
      return hasSecrets
    },
  }
}

function toBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
