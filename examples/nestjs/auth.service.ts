/** Who calls: users of the application by their tokens, and programs by the key of one bot. */
import { randomBytes } from 'node:crypto'
import { Injectable } from '@nestjs/common'

/** A caller as the application and its agents know it. Tasks belong to their caller. */
export interface BotCaller {
  readonly id: string
  /** Set for a program, which may call this bot only. */
  readonly bot?: string
}

@Injectable()
export class AuthService {
  /** In place of your users and the verification of their JWTs. */
  readonly #users = new Map([
    ['token-of-ada', 'ada'],
    ['token-of-bob', 'bob'],
  ])
  readonly #keys = new Map<string, BotCaller>()

  /** A token first, then a key. */
  callerOf(credential: string, bot: string): BotCaller | undefined {
    const user = this.#users.get(credential)
    if (user !== undefined) return { id: `users|${user}` }
    const program = this.#keys.get(credential)
    return program?.bot === bot ? program : undefined
  }

  /** The key is shown once. A real application stores its hash. */
  createKey(bot: string): string {
    const key = randomBytes(24).toString('base64url')
    this.#keys.set(key, { id: `keys|${key.slice(0, 6)}`, bot })
    return key
  }
}
