import { serve } from '@parley/a2a/node'

await serve({
  name: 'Greeter',
  async *agent({ text }) {
    yield `Hello, ${text}!`
  },
})
