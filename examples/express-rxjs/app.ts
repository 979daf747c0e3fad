/** The application: Express, with the agent at the two paths of the early draft of A2A 0.3 and at those of the published versions. */
import { artifact, memoryStore, type Report, status } from '@parley/a2a'
import { clientTools, createHandler, legacyV03Draft, trace } from '@parley/a2a/server'
import express, { type Express, Router } from 'express'
import { map } from 'rxjs'
import { AgentLoop, type LoopEvent } from './agent-loop.ts'

export interface App {
  readonly app: Express
  close(): Promise<void>
}

export function createApp(): App {
  const loop = new AgentLoop()
  const handler = createHandler({
    name: 'Analyst',
    store: memoryStore(),
    // The server subscribes, and unsubscribes when the task is canceled.
    agent: ({ text }) => loop.invoke(text).pipe(map(toReport)),
    endpointVariants: legacyV03Draft,
    // Clients of the draft expect both without naming them.
    extensions: [trace(), clientTools()],
  })

  // In place of the two routes `/v1/message:stream` and `/api/a2a`. Before a body parser, which would apply its own limits.
  const router = Router()
  router.use(handler.node)

  const app = express()
  app.use(router)
  app.use(express.json())
  app.get('/', (_request, response) => void response.send('The application'))
  return { app, close: () => handler.close() }
}

function toReport(event: LoopEvent): Report {
  if (event.type === 'status-update') return status(event.text)
  const { artifactId, chunk, append, lastChunk } = event
  return artifact(artifactId, { text: chunk, append, last: lastChunk })
}
