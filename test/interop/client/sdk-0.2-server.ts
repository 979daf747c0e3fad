/** A server of `@a2a-js/sdk` 0.2.5, as its A2AExpressApp sets it up: JSON-RPC at the root, the card at agent.json. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import express from 'express'
import type { AgentCard } from 'a2a-sdk-0.2'
import { A2AExpressApp, DefaultRequestHandler, InMemoryTaskStore } from 'a2a-sdk-0.2/server'
import { oldStage } from './old-stage.ts'
import { agentName, closed, listening, muted } from './peer.ts'
import type { Peer, PeerKind } from './peer.ts'
import { createHolds, play } from './play.ts'
import type { Play } from './play.ts'

export const sdk02: PeerKind = {
  name: 'a server of @a2a-js/sdk 0.2.5',
  version: '0.2',
  binding: 'JSONRPC',
  absent: '1.0',
  options: {},
  without: ['list', 'extendedCard'],
  cannot: { 'list push configs': 'it knows neither how to list nor how to delete them' },
  open,
}

async function open(script: Play = play): Promise<Peer> {
  const unmute = muted()
  const holds = createHolds()
  const cancels = new Map<string, () => void>()
  const app = express()
  const server = app.listen(0, '127.0.0.1')
  const url = await listening(server)
  const store = new InMemoryTaskStore()
  const requestHandler = new DefaultRequestHandler(cardOf(url), store, {
    async execute(context, bus) {
      const canceled = Promise.withResolvers<void>()
      cancels.set(context.taskId, canceled.resolve)
      await script(
        oldStage(context, (event) => bus.publish(event)),
        holds,
        canceled.promise,
      )
      bus.finished()
    },
    // It answers with the task as it is stored when this returns.
    async cancelTask(taskId) {
      cancels.get(taskId)?.()
      while ((await store.load(taskId))?.status.state !== 'canceled') await nextTurn()
    },
  })
  // It has the types of another Express; what it needs of the app is the same.
  new A2AExpressApp(requestHandler).setupRoutes(app as never)
  return { url, release: holds.release, close: () => closed(server).finally(unmute) }
}

function cardOf(url: string): AgentCard {
  return {
    name: agentName,
    description: 'Does what it is told',
    version: '2.1.0',
    protocolVersion: '0.2.5',
    url: `${url}/`,
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'act', name: 'Act', description: 'Plays a part', tags: ['test'] }],
  } as AgentCard
}
