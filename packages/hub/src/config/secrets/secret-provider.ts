/** Where the values of references such as `${vault:path}` come from: the contract of a provider, and references to its secrets. */

/**
 * Reads secrets for references `${<name of the provider>:<name of the secret>}` in the configuration. Export one from a module and
 * name the module in `secrets` of the configuration.
 */
export interface SecretProvider {
  /**
   * Returns the value. Rejects with an error for the operator if there is none; the error must not contain a secret. `signal` aborts
   * after the timeout of the provider.
   */
  read(name: string, signal: AbortSignal): Promise<string>
  /** Calls `changed` when the secret may have another value. Returns the function that stops it. Default: `refresh` decides. */
  watch?(name: string, changed: () => void): () => void
}

/** How a provider is configured: an entry of `secrets`. */
export interface SecretProviderConfig {
  /** A program with its arguments, in which `{name}` is the name of the secret. It prints the value. */
  readonly command?: readonly string[] | undefined
  /** A file that exports a `SecretProvider`. */
  readonly module?: string | undefined
  readonly env: Readonly<Record<string, string>>
  /** Milliseconds between reads; 0 reads once. */
  readonly refresh: number
  /** Milliseconds that one read may take. */
  readonly timeout: number
}

/** A reference of the configuration to a secret of a provider. */
export interface SecretReference {
  readonly scheme: string
  readonly name: string
  readonly provider: SecretProviderConfig
}

/** The value, or why there is none. `isUnread`: the value is only a text in place of it, because its provider must not run. */
export type SecretResult = { readonly value: string; readonly isUnread?: true } | { readonly problem: string }

/** `undefined` if it was not read yet. */
export type SecretLookup = (reference: SecretReference) => SecretResult | undefined

/** Larger values are a mistake: a log file, or a disk. */
export const maxSecretBytes = 64_000

/** Without its final line break, which editors and `echo` add. */
export function secretText(bytes: Buffer): SecretResult {
  if (bytes.length > maxSecretBytes) return { problem: `is larger than ${maxSecretBytes} bytes` }
  const value = bytes.toString('utf8').replace(/\r?\n$/, '')
  if (value.includes('\0')) return { problem: 'is not text' }
  return value === '' ? { problem: 'is empty' } : { value }
}
