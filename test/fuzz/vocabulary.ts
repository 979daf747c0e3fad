/** Words that mutations insert: fields, methods and values of the protocol in all versions, and values that break parsers. */
import { newMethodNames, oldMethodNames } from './answers/request-operation.ts'

export const protocolWords: readonly string[] = [
  ...newMethodNames,
  ...oldMethodNames,
  ...'jsonrpc id method params result error code message data messageId role parts content text raw url file kind'.split(
    ' ',
  ),
  ...'contextId taskId referenceTaskIds metadata extensions configuration historyLength returnImmediately blocking'.split(
    ' ',
  ),
  ...'acceptedOutputModes pushNotificationConfig taskPushNotificationConfig token authentication scheme schemes'.split(
    ' ',
  ),
  ...'credentials status state timestamp artifact artifacts artifactId append lastChunk final name description'.split(
    ' ',
  ),
  ...'pageSize pageToken includeArtifacts statusTimestampAfter tenant task statusUpdate artifactUpdate history'.split(
    ' ',
  ),
  ...'fileWithBytes fileWithUri bytes uri mimeType mediaType filename skill timeout sessionId'.split(' '),
  ...'TASK_STATE_WORKING TASK_STATE_COMPLETED TASK_STATE_INPUT_REQUIRED ROLE_USER ROLE_AGENT user agent'.split(' '),
  ...'working completed input-required 2.0 1.0 0.3 0.2 text/plain application/json text/event-stream'.split(' '),
  ...'~working~ ~asking~ ~done~ ~failed~ ~canceled~ ~context~ ~page~ ~new~'.split(' '),
]

export const hostileWords: readonly string[] = [
  ...'__proto__ constructor prototype toString hasOwnProperty then length'.split(' '),
  ...'%00 %2e%2e%2f .. // %ff %F0%28 \u0000 \u2028 \ud83d 💥 ٣ -0 1e999 9007199254740993 null true [] {} "" \\u0000 \\ud800'.split(
    ' ',
  ),
]

export const cardWords: readonly string[] = [
  ...'supportedInterfaces protocolBinding protocolVersion preferredTransport additionalInterfaces transport'.split(' '),
  ...'capabilities streaming pushNotifications stateTransitionHistory extendedAgentCard skills tags examples'.split(
    ' ',
  ),
  ...'defaultInputModes defaultOutputModes securitySchemes securityRequirements security provider organization'.split(
    ' ',
  ),
  ...'signatures protected signature header iconUrl documentationUrl version JSONRPC HTTP+JSON GRPC'.split(' '),
  ...'httpAuthSecurityScheme apiKeySecurityScheme oauth2SecurityScheme openIdConnectUrl flows'.split(' '),
  ...'http://agent.test/ https://[::1]/ http://agent.test\\@evil.test/ javascript:alert(1) file:///etc/hosts'.split(
    ' ',
  ),
]

export const words: readonly string[] = [...protocolWords, ...hostileWords]
