/** Starts the application. */
import { createApp } from './app.ts'

const { app, close } = createApp()
const port = Number(process.env.PORT ?? 3000)
const server = app.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`))
process.once('SIGTERM', () => {
  server.close()
  void close()
})
