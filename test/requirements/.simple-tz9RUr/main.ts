import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { buildAgentCard, handleTaskGet, handleTaskSend, invokeRemoteAgent } from '@parley/a2a/simple'

// What your program has already: agents, sessions, and processes that tell what they do.
const listeners = new Map()
const processManager = {
  subscribe: (sessionId, listener) => listeners.set(sessionId, listener),
  startProcess({ id }, prompt) {
    setTimeout(() => {
      listeners.get(id)(id, { type: 'assistant', content: `You said ${prompt}` })
      listeners.get(id)(id, { type: 'session_exited' })
    }, 10)
  },
}
const deps = {
  db: undefined,
  processManager,
  listAgents: () => [{ id: 'ada', name: 'Ada', defaultProjectId: 'library' }],
  createSession: () => ({ id: crypto.randomUUID() }),
}

const server = createServer(async (request, response) => {
  const { method, url } = request
  const answer =
    url === '/.well-known/agent-card.json'
      ? buildAgentCard(`http://${request.headers.host}`)
      : method === 'POST' && url === '/a2a/tasks/send'
        ? handleTaskSend(deps, await json(request))
        : handleTaskGet(url.replace('/a2a/tasks/', ''))
  response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(answer))
}).listen(24112)

const { success, responseText, error } = await invokeRemoteAgent('http://127.0.0.1:24112', 'Hello')
console.log(success ? responseText : error) // You said Hello
server.close()
