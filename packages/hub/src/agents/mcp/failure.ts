/**
 * A call that came to no result, as its caller may know it: whose fault it is, and whether the tool may have done its work.
 * What the server said of itself is for the log.
 */
import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { A2AError } from '@parley/a2a'
import { lostCode } from './http-transport.ts'

const wordsChars = 500
const invalidParams: number = ProtocolErrorCode.InvalidParams

export function failureOf(reason: unknown): A2AError {
  if (reason instanceof A2AError) return reason
  return new A2AError('TOOL_EXECUTION_FAILED', sentenceFor(reason), {}, { cause: reason })
}

const lost = 'The connection to the tool server was lost: whether the tool has done its work is not known'

/** What the SDK noticed, in words. */
const noticed: Readonly<Record<string, string>> = {
  [SdkErrorCode.ConnectionClosed]: lost,
  [SdkErrorCode.NotConnected]: lost,
  [SdkErrorCode.SendFailed]: lost,
  [SdkErrorCode.InvalidResult]: 'The answer of the tool makes no sense',
  [SdkErrorCode.UnsupportedResultType]: 'The answer of the tool makes no sense',
  [SdkErrorCode.InputRequiredRoundsExceeded]: 'The tool asked again and again',
  // It wanted a model, or a list of folders.
  [SdkErrorCode.CapabilityNotSupported]: 'The tool asked for something that it cannot have here',
  [SdkErrorCode.MethodNotSupportedByProtocolVersion]: 'The tool asked for something that it cannot have here',
}

function sentenceFor(reason: unknown): string {
  if (reason instanceof ProtocolError) return sentenceOfServer(reason)
  if (reason instanceof SdkHttpError) return `The tool server refused the call (HTTP ${reason.status})`
  // What is no error of the SDK's is one of the network.
  return reason instanceof SdkError ? (noticed[reason.code] ?? 'The tool server failed') : lost
}

function sentenceOfServer({ code, message }: ProtocolError): string {
  if (code === lostCode) return lost
  // By the SDK, which checks what a tool answers against what the tool says of itself.
  if (/output ?schema|structured content/i.test(message)) return 'The answer of the tool is not what it promised'
  if (code !== invalidParams) return 'The tool server failed'
  return `The tool server does not take the call: ${message.replace(/^MCP error -?\d+: /, '').slice(0, wordsChars)}`
}
