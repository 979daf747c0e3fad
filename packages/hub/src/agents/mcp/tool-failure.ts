/**
 * A failed call as the caller may see it: whose fault it is, and whether the tool may have done its work. The server's
 * own message goes to the log.
 */
import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { A2AError } from '@parley/a2a'
import { lostAnswerCode } from './http-transport.ts'

const wordsChars = 500
const invalidParams: number = ProtocolErrorCode.InvalidParams

export function toolFailure(reason: unknown): A2AError {
  if (reason instanceof A2AError) return reason
  return new A2AError('TOOL_EXECUTION_FAILED', failureMessage(reason), {}, { cause: reason })
}

const connectionLost = 'The connection to the tool server was lost: the outcome of the call is unknown'

/** Messages for error codes of the SDK. */
const sdkErrorMessages: Readonly<Record<string, string>> = {
  [SdkErrorCode.ConnectionClosed]: connectionLost,
  [SdkErrorCode.NotConnected]: connectionLost,
  [SdkErrorCode.SendFailed]: connectionLost,
  [SdkErrorCode.InvalidResult]: 'The result of the tool is malformed',
  [SdkErrorCode.UnsupportedResultType]: 'The result of the tool is malformed',
  [SdkErrorCode.InputRequiredRoundsExceeded]: 'The tool asked too many questions',
  // The server requested sampling or roots.
  [SdkErrorCode.CapabilityNotSupported]: 'The tool requested an unsupported feature of the client',
  [SdkErrorCode.MethodNotSupportedByProtocolVersion]: 'The tool requested an unsupported feature of the client',
}

function failureMessage(reason: unknown): string {
  if (reason instanceof ProtocolError) return serverFailureMessage(reason)
  if (reason instanceof SdkHttpError) return `The tool server refused the call (HTTP ${reason.status})`
  // Errors that are not from the SDK are network errors.
  return reason instanceof SdkError ? (sdkErrorMessages[reason.code] ?? 'The tool server failed') : connectionLost
}

function serverFailureMessage({ code, message }: ProtocolError): string {
  if (code === lostAnswerCode) return connectionLost
  // From the SDK, which validates the result of a tool against its output schema.
  if (/output ?schema|structured content/i.test(message))
    return 'The result of the tool does not match its output schema'
  if (code !== invalidParams) return 'The tool server failed'
  return `The tool server rejected the call: ${message.replace(/^MCP error -?\d+: /, '').slice(0, wordsChars)}`
}
