/** Errors of the program itself, with the codes and exit codes of the a2a-cli specification. */

/** Failures of the protocol have the name of their A2A error instead, such as `TaskNotFoundError`, and exit with 1. */
export const exitCodeOf = {
  A2ACLI_ERR_USAGE: 2,
  A2ACLI_ERR_CARD_NOT_FOUND: 3,
  A2ACLI_ERR_UNREACHABLE: 3,
  A2ACLI_ERR_CREDENTIALS_MISSING: 4,
  A2ACLI_ERR_AUTH_FAILED: 4,
  A2ACLI_ERR_TIMEOUT: 5,
  A2ACLI_ERR_CARD_INVALID: 1,
  A2ACLI_ERR_INTERNAL: 1,
} as const

export type CliErrorCode = keyof typeof exitCodeOf

export class CliError extends Error {
  override readonly name = 'CliError'
  readonly code: CliErrorCode
  /** What the user can do: a sentence or a command line. */
  readonly hint: string | undefined
  constructor(code: CliErrorCode, message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.hint = options.hint
  }
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError('A2ACLI_ERR_USAGE', message, hint === undefined ? {} : { hint })
}

/** A server of the program cannot listen. `option` sets the port. */
export function listenError(cause: unknown, address: string, option: string): CliError {
  const { code, message } = cause as NodeJS.ErrnoException
  const why =
    code === 'EADDRINUSE'
      ? 'the port is in use'
      : code === 'EACCES'
        ? 'permission denied'
        : code === 'EADDRNOTAVAIL'
          ? 'this machine does not have the address'
          : (code ?? message)
  const hint = code === 'EADDRNOTAVAIL' ? '' : `Choose another port: ${option} <port>; 0 takes a free one.`
  return new CliError('A2ACLI_ERR_USAGE', `Cannot listen on ${address}: ${why}.`, {
    cause,
    ...(hint === '' ? {} : { hint }),
  })
}

const hints = new WeakMap<Error, string>()

/** An error of the agent with what the user can do. Kept beside its details, which the agent sends and could fill with advice. */
export function withHint<E extends Error>(error: E, hint: string): E {
  hints.set(error, hint)
  return error
}

export function hintOf(error: Error): string | undefined {
  return hints.get(error)
}
