/** Starts the application. */
import { createApp } from './app.ts'

const port = Number(process.env.PORT ?? 3000)
const app = await createApp()
app.enableShutdownHooks()
await app.listen(port, '127.0.0.1')
console.log(`http://127.0.0.1:${port}/a2a/echo`)
