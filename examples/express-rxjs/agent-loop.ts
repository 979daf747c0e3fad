/** The application's own agent: an Observable of its own events. It knows nothing of A2A; unsubscribing stops it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Observable } from 'rxjs'

export type LoopEvent =
  | { readonly type: 'status-update'; readonly text: string }
  | {
      readonly type: 'artifact-chunk'
      readonly artifactId: string
      readonly chunk: string
      readonly append: boolean
      readonly lastChunk: boolean
    }

export class AgentLoop {
  invoke(request: string): Observable<LoopEvent> {
    return new Observable((subscriber) => {
      const stopped = new AbortController()
      const run = async (): Promise<void> => {
        subscriber.next({ type: 'status-update', text: 'Processing...' })
        const words = `You asked: ${request}`.split(/(?<= )/)
        for (const [index, chunk] of words.entries()) {
          await sleep(50, undefined, { signal: stopped.signal })
          const lastChunk = index === words.length - 1
          subscriber.next({ type: 'artifact-chunk', artifactId: 'answer', chunk, append: index > 0, lastChunk })
        }
        subscriber.complete()
      }
      run().catch((reason: unknown) => subscriber.error(reason))
      return () => stopped.abort()
    })
  }
}
