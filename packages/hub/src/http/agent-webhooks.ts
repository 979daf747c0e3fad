/**
 * Requests below `/a2a/{agent}/hooks/`: for the agent itself and not for its callers, such as webhooks of the backend of an agent.
 * The agent authenticates them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AgentLog } from '@parley/a2a'
import type { Middleware } from '@parley/a2a/node'
import type { OpenAgent } from '../agents/kind.ts'
import { readBody, toRequest } from './web-exchange.ts'

export interface AgentWebhooksDeps {
  open(agent: string): OpenAgent | undefined
  readonly bodyBytes: number
  readonly log: AgentLog
}

const webhookPath = /^\/a2a\/([^/?]+)\/hooks(\/[^?]*)?(?:\?|$)/

export function createAgentWebhooks({ open, bodyBytes, log }: AgentWebhooksDeps): Middleware {
  async function handle(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const webhook = open(name)?.handleWebhook
    if (webhook === undefined) return end(response, 404)
    const body = await readBody(request, bodyBytes)
    if (body === undefined) return end(response, 413)
    await send(response, await webhook(toRequest(request, body)))
  }

  return (request, response) => {
    const [, name] = webhookPath.exec(request.url ?? '') ?? []
    if (name === undefined) return false
    handle(request, response, name).catch((cause: unknown) => {
      log.error("a request to an agent's own endpoint failed", { agent: name, cause })
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
