/** A server of `@a2a-js/sdk` 0.2.5, as its A2AExpressApp sets it up: JSON-RPC at the root, the card at agent.json. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import express from 'express'
import type { AgentCard } from 'a2a-sdk-0.2'
import { A2AExpressApp, DefaultRequestHandler, InMemoryTaskStore } from 'a2a-sdk-0.2/server'
import { legacyScriptOutput } from './legacy-script-output.ts'
import { agentName, closeServer, listeningUrl, muteConsole } from './peer.ts'
import type { Peer, PeerKind } from './peer.ts'
import { createNamedGates, defaultScript } from './agent-script.ts'
import type { AgentScript } from './agent-script.ts'

export const sdk02: PeerKind = {
  name: 'a server of @a2a-js/sdk 0.2.5',
  version: '0.2',
  binding: 'JSONRPC',
  absent: '1.0',
  options: {},
  missingCapabilities: ['list', 'extendedCard'],
  knownDefects: { 'list push configs': 'it knows neither how to list nor how to delete them' },
  open,
}

async function open(script: AgentScript = defaultScript): Promise<Peer> {
  const unmute = muteConsole()
  const holds = createNamedGates()
  const cancels = new Map<string, () => void>()
  const app = express()
  const server = app.listen(0, '127.0.0.1')
  const url = await listeningUrl(server)
  const store = new InMemoryTaskStore()
  const requestHandler = new DefaultRequestHandler(cardOf(url), store, {
    async execute(context, bus) {
      const canceled = Promise.withResolvers<void>()
      cancels.set(context.taskId, canceled.resolve)
      await script(
        legacyScriptOutput(context, (event) => bus.publish(event)),
        holds,
        canceled.promise,
      )
      bus.finished()
    },
    // It returns the stored task when this resolves.
    async cancelTask(taskId) {
      cancels.get(taskId)?.()
      while ((await store.load(taskId))?.status.state !== 'canceled') await nextTurn()
    },
  })
  // It has the types of another Express; what it needs of the app is the same.
  new A2AExpressApp(requestHandler).setupRoutes(app as never)
  return { url, release: holds.release, close: () => closeServer(server).finally(unmute) }
}

function cardOf(url: string): AgentCard {
  return {
    name: agentName,
    description: 'Does what the message says',
    version: '2.1.0',
    protocolVersion: '0.2.5',
    url: `${url}/`,
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'act', name: 'Act', description: 'Plays a part', tags: ['test'] }],
  } as AgentCard
}
