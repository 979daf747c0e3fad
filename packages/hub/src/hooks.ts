/**
 * Requests below `/a2a/{agent}/hooks/`: for the agent itself and not for its callers, such as what an agent behind it has to
 * say by webhook. Who they are from is for the agent to find out.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AgentLog } from '@parley/a2a'
import type { Front } from '@parley/a2a/node'
import type { OpenAgent } from './agents/kind.ts'
import { readBody, toRequest } from './http/web-exchange.ts'

export interface HooksParts {
  open(agent: string): OpenAgent | undefined
  readonly bodyBytes: number
  readonly log: AgentLog
}

const path = /^\/a2a\/([^/?]+)\/hooks(\/[^?]*)?(?:\?|$)/

export function createHooks({ open, bodyBytes, log }: HooksParts): Front {
  async function take(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const hook = open(name)?.hook
    if (hook === undefined) return end(response, 404)
    const body = await readBody(request, bodyBytes)
    if (body === undefined) return end(response, 413)
    await send(response, await hook(toRequest(request, body)))
  }

  return (request, response) => {
    const [, name] = path.exec(request.url ?? '') ?? []
    if (name === undefined) return false
    take(request, response, name).catch((cause: unknown) => {
      log.error('a request to an agent itself failed', { agent: name, cause })
      if (response.headersSent) response.destroy()
      else end(response, 500)
    })
    return true
  }
}

async function send(response: ServerResponse, answer: Response): Promise<void> {
  const bytes = Buffer.from(await answer.arrayBuffer())
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(bytes)
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'cache-control': 'no-store' }).end()
}
