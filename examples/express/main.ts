/** An agent inside an Express application, under its own path. */
import { createHandler } from '@parley/a2a/server'
import { memoryStore } from '@parley/a2a'
import express from 'express'

const handler = createHandler({
  name: 'Greeter',
  store: memoryStore(),
  async *agent({ text }) {
    yield `Hello, ${text}!`
  },
})

const app = express()
app.get('/', (_request, response) => void response.send('The application'))
app.use('/agent', handler.node)

const port = Number(process.env.PORT ?? 3000)
const server = app.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/agent`))
process.once('SIGTERM', () => {
  server.close()
  void handler.close()
})
