/**
 * For clients of an older draft, who ask for nothing and expect it all: at `/api/a2a` events tell their trace (S2-31) and
 * tools of the client are asked for (S2-13) as if the request had named these extensions. It only ever adds a header, and
 * the request goes its usual way.
 */
import { clientToolsExtension, traceExtension } from '@parley/a2a'
import type { Front } from '@parley/a2a/node'
import { pathOf } from '../admin/route-request.ts'

const names = ['a2a-extensions', 'x-a2a-extensions'] as const
const expected = `${traceExtension}, ${clientToolsExtension}`

export const olderDraft: Front = (request) => {
  const { headers } = request
  if (pathOf(request) === '/api/a2a' && names.every((name) => headers[name] === undefined)) headers[names[0]] = expected
  return false
}

/** Where such clients speak REST, and write `kind` where others do not (S2-25). */
export const olderDraftRest = '/v1'
