/** docs/reference/errors.md: every error code with its cause and its remedy, from the error table of the SDK. */
import { A2AError, type ErrorCode } from '../../packages/a2a/src/model/error.ts'
import { errorTable } from '../../packages/a2a/src/model/error-table.ts'
import { routeErrorCodes } from '../../packages/hub/src/http/json-response.ts'
import { errorHelp, localCodes, routeErrorHelp } from './error-help.ts'
import { code, generatedNotice, page, table, text, type Row } from './markdown.ts'

const codes = Object.keys(errorTable) as readonly ErrorCode[]

export function errorsPage(): string {
  const onTheWire = codes.filter((name) => !localCodes.includes(name))
  return page(
    '# Error reference',
    generatedNotice,
    'Every error of the SDK is an `A2AError` with one of these codes in `error.code`. `error.retryable` says whether the same call may succeed later without a change. ' +
      'In 1.0 the code also crosses the wire: as `reason` of the `ErrorInfo` in the details of an error.',
    'The server and the client map a code to these values. Codes from -32090 down, and those without a JSON-RPC code of their own, are specific to Parley.',
    '## Errors of a server',
    table(
      ['Code', 'JSON-RPC', 'HTTP', 'gRPC', 'Retry'],
      onTheWire.map((name): Row => {
        const { jsonrpc, http, grpc } = errorTable[name]
        return [link(name), String(jsonrpc), String(http), code(grpc), retryText(name)]
      }),
    ),
    ...onTheWire.map(helpText),
    '## Errors of a client',
    'A client throws these; no server sends them. `CANCELED` exists only inside an agent.',
    table(
      ['Code', 'Retry'],
      localCodes.map((name): Row => [link(name), retryText(name)]),
    ),
    ...localCodes.map(helpText),
    '## Errors of the admin API',
    'The [admin API](admin.md) has codes of its own, in `error.code` of the body.',
    table(
      ['Code', 'Cause', 'Remedy'],
      routeErrorCodes.map((name): Row => [
        code(name),
        text(routeErrorHelp[name].cause),
        text(routeErrorHelp[name].remedy),
      ]),
    ),
  )
}

function link(name: ErrorCode): string {
  return `[${code(name)}](#${name.toLowerCase()})`
}

function retryText(name: ErrorCode): string {
  return new A2AError(name, '').retryable ? 'yes' : 'no'
}

function helpText(name: ErrorCode): string {
  const { cause, remedy } = errorHelp[name]
  return page(`### ${name}`, `**Cause.** ${text(cause)}`, `**Remedy.** ${text(remedy)}`)
}
