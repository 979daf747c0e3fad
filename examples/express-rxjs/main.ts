/** Starts the application. */
import { createApp } from './app.ts'

const { app, close } = createApp()
const server = app.listen(3000, '127.0.0.1', () => console.log('http://127.0.0.1:3000'))
process.once('SIGTERM', () => {
  server.close()
  void close()
})
