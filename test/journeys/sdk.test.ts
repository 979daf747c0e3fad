/** A TypeScript author: six lines, called from the command line and by curl, then part of an application with Express. */
import assert from 'node:assert/strict'
import { describeJourney } from './journey.ts'
import type { Terminal } from './terminal.ts'

const agent = `import { serve } from '@parley/a2a/node'

await serve({
  name: 'Greeter',
  port: Number(process.env.PORT ?? 3000),
  async *agent({ text }) {
    yield \`Hello, \${text}!\`
  },
})
`

const application = `import { memoryStore } from '@parley/a2a'
import { createHandler } from '@parley/a2a/server'
import express from 'express'

const handler = createHandler({ name: 'Greeter', store: memoryStore(), agent: ({ text }) => \`Welcome, \${text}!\` })
const app = express()
app.get('/', (request, response) => void response.send('my application'))
app.use('/agent', handler.node)
app.listen(process.env.PORT, () => console.log('ready'))
`

const message = JSON.stringify({ message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'Ada' }] } })
const curl = (url: string): string =>
  `curl -s ${url}/message:send -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -d '${message}'`

describeJourney('an agent of the SDK', (step) => {
  let [first, second] = [] as Terminal[] as [Terminal, Terminal]

  step('answers the command line, curl and a conversation', async (machine) => {
    const folder = await machine.folder('greeter', {
      'package.json': '{ "type": "module" }',
      'agent.ts': agent,
      'app.ts': application,
    })
    first = await machine.terminal(folder)
    second = await machine.terminal(folder)
    await first.run('npm install @parley/a2a express')
    await first.start('node agent.ts', /Greeter is listening on http:/)
    assert.match(await second.run(`a2a send -a 127.0.0.1:${machine.port} Ada`), /Hello, Ada!/)
    assert.match(await second.run(curl(machine.url)), /"Hello, Ada!"/)
    await second.start(`a2a chat -a 127.0.0.1:${machine.port}`, /Greeter/)
    await second.type('Grace')
    await second.until(/Hello, Grace!/)
    await second.press('C-d')
    await second.until(/\$ $/)
  })

  step('has its tasks after a restart', async (machine) => {
    await first.interrupt()
    await first.start('node agent.ts', /Greeter is listening on http:/)
    assert.match(await second.run(`a2a task list -a 127.0.0.1:${machine.port}`), /COMPLETED/)
    await first.interrupt()
  })

  step('is a part of an application with Express', async (machine) => {
    await first.start('node app.ts', /^ready *$/m)
    assert.match(await second.run(`curl -s ${machine.url}/`), /my application/)
    assert.match(await second.run(`a2a send -a ${machine.url}/agent Ada`), /Welcome, Ada!/)
    assert.match(await second.run(curl(`${machine.url}/agent`)), /"Welcome, Ada!"/)
  })
})
