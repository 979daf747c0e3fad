/**
 * DBOS on PostgreSQL: a durable workflow of the same four events as our task (submitted, working, an artifact, completed), each a
 * durable step, behind node:http. The message id is the id of the workflow, so that a repeated message runs once, as with us. The
 * answer is sent when the workflow has completed.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answer } from '../workload.ts'
import { runContestant } from './child-process.ts'

/** The part of `@dbos-inc/dbos-sdk` that is used: the package is not a dependency, see `measures/dbos.ts`. */
interface Dbos {
  setConfig(config: object): void
  launch(): Promise<void>
  shutdown(): Promise<void>
  registerWorkflow<Input, Output>(
    run: (input: Input) => Promise<Output>,
    options: { readonly name: string },
  ): (input: Input) => Promise<Output>
  runStep<Output>(run: () => Promise<Output>, options: { readonly name: string }): Promise<Output>
  withNextWorkflowID<Output>(id: string, run: () => Promise<Output>): Promise<Output>
}

interface Message {
  readonly messageId: string
}
interface Request {
  readonly id: number
  readonly params: { readonly message: Message }
}

export interface DbosLocation {
  readonly database: string
  /** The main file of the package. */
  readonly module: string
}

const { database, module } = JSON.parse(process.argv[2] ?? '{}') as DbosLocation
const { DBOS } = (await import(module)) as { readonly DBOS: Dbos }

const status = (state: string) => ({ state, timestamp: new Date().toISOString() })
const report = (state: string) => DBOS.runStep(async () => status(state), { name: state })

async function runTask(message: Message) {
  const id = crypto.randomUUID()
  await report('TASK_STATE_SUBMITTED')
  await report('TASK_STATE_WORKING')
  const artifact = await DBOS.runStep(async () => ({ artifactId: 'answer', parts: [{ text: answer }] }), {
    name: 'artifact',
  })
  const completed = await report('TASK_STATE_COMPLETED')
  return { id, contextId: id, status: completed, artifacts: [artifact], history: [message] }
}

const workflow = DBOS.registerWorkflow(runTask, { name: 'task' })
// One connection for each request: with its default of 10, which is what our replica has, DBOS ran a third fewer workflows.
DBOS.setConfig({ name: 'bench', systemDatabaseUrl: database, systemDatabasePoolSize: 32, logLevel: 'error' })
await DBOS.launch()

async function answerTo(body: string, response: ServerResponse): Promise<void> {
  const { id, params } = JSON.parse(body) as Request
  const task = await DBOS.withNextWorkflowID(params.message.messageId, () => workflow(params.message))
  const text = JSON.stringify({ jsonrpc: '2.0', id, result: { task } })
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}

function listen(request: IncomingMessage, response: ServerResponse): void {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (piece: string) => (body += piece))
  request.on('end', () => {
    answerTo(body, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
}

const server = createServer(listen)
server.listen(0, '127.0.0.1', () => {
  runContestant({
    port: (server.address() as AddressInfo).port,
    announce() {},
    async close() {
      server.closeAllConnections()
      await DBOS.shutdown()
    },
  })
})
