/** The same calls to agents of three versions: the card declares the version, and the client uses it. */
import { memoryStore } from '@parley/a2a'
import { A2AError, connect } from '@parley/a2a/client'
import { serve } from '@parley/a2a/node'

const agentOf = (version: '0.2' | '0.3' | '1.0') =>
  serve({
    name: `An agent of ${version}`,
    port: 0,
    quiet: true,
    store: memoryStore(),
    versions: [version],
    async *agent({ text }) {
      yield 'Hello, '
      yield `${text}!`
    },
  })

for (const version of ['0.2', '0.3', '1.0'] as const) {
  const server = await agentOf(version)
  const agent = await connect(server.url)
  console.log(`${agent.card.name}: ${agent.interface.protocolBinding} ${agent.interface.version}`)
  console.log(await agent.ask('you'))
  // States, parts and errors have the names of 1.0, whatever version the peer uses.
  const states = await agent.stream('you').states()
  console.log(states.map((state) => state.replace('TASK_STATE_', '')).join(', '))

  // A pinned version is used, or connecting fails.
  try {
    await connect(server.url, { version: '1.0' })
    console.log('It supports 1.0')
  } catch (error) {
    if (error instanceof A2AError) console.log(error.code)
  }
  await server.close()
}
