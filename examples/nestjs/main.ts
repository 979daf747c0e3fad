/** Starts the application. */
import { createApp } from './app.ts'

const app = await createApp()
app.enableShutdownHooks()
await app.listen(3000, '127.0.0.1')
console.log('http://127.0.0.1:3000/a2a/echo')
