/** The bots as agents: the handler of the SDK, and the events of a task as an Observable. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Injectable, type MessageEvent, NotFoundException, type OnApplicationShutdown } from '@nestjs/common'
import { memoryStore } from '@parley/a2a'
import { A2AError } from '@parley/a2a/client'
import { type Authenticate, createHandler } from '@parley/a2a/server'
import type { Request, Response } from 'express'
import { Observable } from 'rxjs'
import type { BotCaller } from './auth.service.ts'
import { bots } from './bots.ts'

/** The guard has identified the caller before the handler gets the request. */
const currentCaller = new AsyncLocalStorage<BotCaller | undefined>()
const authenticate: Authenticate = Object.assign(() => currentCaller.getStore(), {
  challenge: 'Bearer',
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
})

@Injectable()
export class A2aService implements OnApplicationShutdown {
  readonly #handler = createHandler({
    agents: Object.fromEntries(
      Object.entries(bots).map(([name, { description, answer }]) => [
        name,
        // An agent may return an Observable: the handler subscribes, and unsubscribes when the task is canceled.
        { description, agent: ({ text }: { readonly text: string }) => answer(text) },
      ]),
    ),
    default: false,
    store: memoryStore(),
    authenticate,
  })

  handle(request: Request, response: Response, caller?: BotCaller): void {
    currentCaller.run(caller, () => this.#handler.node(request, response))
  }

  /** The task as it is, then its events. Unsubscribing ends the reading, and never the task. */
  async events(bot: string, id: string, caller: BotCaller, lastEventId?: string): Promise<Observable<MessageEvent>> {
    const left = new AbortController()
    const after = lastEventId === undefined ? {} : { lastEventId: Number(lastEventId) }
    const options = { agent: bot, caller, signal: left.signal, ...after }
    const events = await this.#handler.call('SubscribeToTask', { id }, options).catch((reason: unknown) => {
      throw reason instanceof A2AError ? new NotFoundException(reason.message) : reason
    })
    return new Observable((subscriber) => {
      const read = async (): Promise<void> => {
        for await (const items of events) {
          for (const { event, seq } of items) {
            subscriber.next({ data: event, ...(seq === undefined ? {} : { id: String(seq) }) })
          }
        }
        subscriber.complete()
      }
      read().catch((reason: unknown) => subscriber.error(reason))
      return () => left.abort()
    })
  }

  onApplicationShutdown(): Promise<void> {
    return this.#handler.close()
  }
}
