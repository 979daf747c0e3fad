import { describe } from 'node:test'
import { failsWith, hostile } from './case.ts'
import { taskId } from './story.ts'
const quick = { timeoutMs: 150, answerTimeoutMs: 150, cardTimeoutMs: 150, idleTimeoutMs: 100, attempts: 2 } as const
describe('x', () => {
  for (const name of ['send','get','cancel','stream','subscribe'])
  hostile(name, async ({ open, connect, signal }) => {
    const server = await open({ card: (x) => x.json(server.card), other: () => {} })
    const agent: any = await connect(server, { limits: quick })
    const p = name === 'stream' ? agent.stream('go', { signal }).all() : name === 'subscribe' ? agent.subscribe(taskId, {signal}).all() : agent[name](taskId, { signal })
    await failsWith(p)
    await new Promise((r) => setTimeout(r, 300))
    console.log(name, server.calls.map((c) => [c.operation, c.isAnswered, c.socket.destroyed]), server.waiting)
  })
  hostile('all', async ({ open, connect, signal }) => {
    const server = await open({ card: (x) => x.json(server.card), other: () => {} })
    const agent: any = await connect(server, { limits: quick })
    await Promise.all(['send','get','cancel','stream','subscribe'].map((name) => failsWith(name === 'stream' ? agent.stream('go', { signal }).all() : name === 'subscribe' ? agent.subscribe(taskId, {signal}).all() : agent[name](taskId, { signal }))))
    await new Promise((r) => setTimeout(r, 300))
    console.log('all', server.calls.map((c) => [c.operation, c.isAnswered, c.socket.destroyed]), server.waiting)
  })
})
