/** What the program reports of a failure: `{"error":{code,message,hint,a2aCode}}`, its labels in text mode, and the exit code. */
import type { ErrorCode } from '@parley/a2a'
import { A2AError } from '@parley/a2a/client'
import { CliError, exitCodeOf, hintOf, type CliErrorCode } from './cli-error.ts'

export interface ErrorReport {
  readonly code: string
  readonly message: string
  readonly hint: string | null
  /** The code that the agent sent: a JSON-RPC number, or the reason or the name of the status over the other bindings. */
  readonly a2aCode: string | number | null
  readonly exitCode: number
}

/** Errors of the protocol, by the names of its specification. */
const protocolErrors: Partial<Readonly<Record<ErrorCode, string>>> = {
  TASK_NOT_FOUND: 'TaskNotFoundError',
  TASK_NOT_CANCELABLE: 'TaskNotCancelableError',
  PUSH_NOTIFICATION_NOT_SUPPORTED: 'PushNotificationNotSupportedError',
  UNSUPPORTED_OPERATION: 'UnsupportedOperationError',
  CONTENT_TYPE_NOT_SUPPORTED: 'ContentTypeNotSupportedError',
  UNSUPPORTED_MEDIA_TYPE: 'ContentTypeNotSupportedError',
  INVALID_AGENT_RESPONSE: 'InvalidAgentResponseError',
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: 'ExtendedAgentCardNotConfiguredError',
  EXTENSION_SUPPORT_REQUIRED: 'ExtensionSupportRequiredError',
  VERSION_NOT_SUPPORTED: 'VersionNotSupportedError',
  PARSE_ERROR: 'JSONParseError',
  INVALID_REQUEST: 'InvalidRequestError',
  PAYLOAD_TOO_LARGE: 'InvalidRequestError',
  METHOD_NOT_FOUND: 'MethodNotFoundError',
  AGENT_NOT_FOUND: 'MethodNotFoundError',
  METHOD_NOT_ALLOWED: 'MethodNotFoundError',
  INVALID_PARAMS: 'InvalidParamsError',
  CONTEXT_REJECTED: 'InvalidParamsError',
  MESSAGE_ID_REUSED: 'InvalidParamsError',
  INTERNAL: 'InternalError',
}

const localErrors: Partial<Readonly<Record<ErrorCode, CliErrorCode>>> = {
  CARD_NOT_FOUND: 'A2ACLI_ERR_CARD_NOT_FOUND',
  UNAVAILABLE: 'A2ACLI_ERR_UNREACHABLE',
  INTERRUPTED: 'A2ACLI_ERR_UNREACHABLE',
  PERMISSION_DENIED: 'A2ACLI_ERR_AUTH_FAILED',
  TIMEOUT: 'A2ACLI_ERR_TIMEOUT',
}

const hints: Partial<Readonly<Record<ErrorCode | CliErrorCode, string>>> = {
  A2ACLI_ERR_CARD_NOT_FOUND: 'Check --agent-card: a host, the URL of a card, or a file.',
  A2ACLI_ERR_UNREACHABLE: 'Check the address and the network. --debug shows every request.',
  A2ACLI_ERR_CREDENTIALS_MISSING: 'Set A2ACLI_BEARER or A2ACLI_API_KEY, or run `a2a auth login`.',
  A2ACLI_ERR_AUTH_FAILED: 'The agent rejected the credential. `a2a auth status -a <agent>` shows which one is used.',
  PERMISSION_DENIED: 'The credential does not permit this. `a2a auth status -a <agent>` shows which one is used.',
  A2ACLI_ERR_TIMEOUT: 'Choose a longer --timeout.',
  TASK_NOT_FOUND: 'Check the id of the task and the agent. --debug shows every request.',
  TASK_NOT_CANCELABLE: 'The task has already ended: `a2a task get` shows its state.',
  UNSUPPORTED_OPERATION:
    'The agent does not offer it, or not for a task in this state: see `a2a task get`. --debug shows every request.',
  CONTEXT_REJECTED: 'The task and the context must belong together. --debug shows every request.',
  INVALID_PARAMS: '--debug shows every request.',
  RATE_LIMITED: 'Try again later.',
  AGENT_UNAVAILABLE: 'Try again later.',
}

/** `hasCredential`: whether the run had a credential, which tells a rejected one from a missing one. */
export function reportError(reason: unknown, { hasCredential }: { readonly hasCredential: boolean }): ErrorReport {
  if (reason instanceof CliError) {
    const { code, message } = reason
    const hint = reason.hint ?? retryHint(reason) ?? hints[code] ?? null
    return { code, message, hint, a2aCode: null, exitCode: exitCodeOf[code] }
  }
  if (!(reason instanceof A2AError)) return localReport('A2ACLI_ERR_INTERNAL', messageOf(reason), null)
  // Credentials are obtained within a call, which wraps their error.
  if (reason.cause instanceof CliError) return reportError(reason.cause, { hasCredential })
  const { code, message, details } = reason
  const sent = sentCode(reason)
  const local =
    code === 'UNAUTHENTICATED'
      ? hasCredential
        ? 'A2ACLI_ERR_AUTH_FAILED'
        : 'A2ACLI_ERR_CREDENTIALS_MISSING'
      : localErrors[code]
  if (local !== undefined) return localReport(local, message, sent, hintOf(reason) ?? retryHint(reason) ?? hints[code])
  const taskId = details.taskId === undefined || message.includes(details.taskId) ? '' : ` (task ${details.taskId})`
  return {
    code: protocolErrors[code] ?? `PARLEY_ERR_${code}`,
    message: `${message}${taskId}`,
    hint: hintOf(reason) ?? retryHint(reason) ?? hints[code] ?? null,
    a2aCode: sent,
    exitCode: 1,
  }
}

/** When the agent says that the same call may succeed: `Retry-After` over HTTP, `RetryInfo` over gRPC. */
function retryHint(reason: unknown): string | undefined {
  for (let error = reason; error instanceof Error; error = error.cause) {
    const waitMs = error instanceof A2AError && error.retryable ? Number(error.details['retryAfterMs']) : NaN
    if (waitMs > 0) return `Retry in ${Math.ceil(waitMs / 1_000)} s.`
  }
  return undefined
}

function localReport(
  code: CliErrorCode,
  message: string,
  a2aCode: string | number | null,
  hint: string | null = hints[code] ?? null,
): ErrorReport {
  return { code, message, hint, a2aCode, exitCode: exitCodeOf[code] }
}

/** `null` if the failure was found before the agent was called. */
function sentCode(error: A2AError): string | number | null {
  for (let reason: unknown = error; reason instanceof A2AError; reason = reason.cause)
    if (reason.wireCode !== undefined) return reason.wireCode
  return null
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}

/** Without its exit code, as `-o json` prints it. */
export function errorEnvelope({ code, message, hint, a2aCode }: ErrorReport): object {
  return { error: { code, message, hint, a2aCode } }
}

/** Labels and values, for stderr. Further lines of a value are indented: text of an agent must not look like a label, such as a hint. */
export function errorText({ code, message, hint, a2aCode }: ErrorReport): string {
  return [
    `Error: ${indented(message)}`,
    `Code: ${code}`,
    ...(a2aCode === null ? [] : [`A2A Code: ${indented(String(a2aCode))}`]),
    ...(hint === null ? [] : [`Hint: ${indented(hint)}`]),
  ].join('\n')
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ')
}
