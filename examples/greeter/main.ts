import { serve } from '@parley/a2a/node'

await serve({
  name: 'Greeter',
  port: Number(process.env.PORT ?? 3000),
  async *agent({ text }) {
    yield `Hello, ${text}!`
  },
})
