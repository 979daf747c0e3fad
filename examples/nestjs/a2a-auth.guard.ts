/** Lets a request in that has a user's token or the key of its bot, and adds the caller to the request. */
import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common'
import type { Request, Response } from 'express'
import { AuthService, type BotCaller } from './auth.service.ts'

export type A2aRequest = Request<{ readonly bot: string }> & { caller?: BotCaller }

@Injectable()
export class A2aAuthGuard implements CanActivate {
  constructor(private readonly auth: AuthService) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp()
    const request = http.getRequest<A2aRequest>()
    const [, credential = ''] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? []
    const caller = this.auth.callerOf(credential, request.params.bot)
    if (caller === undefined) {
      http.getResponse<Response>().setHeader('WWW-Authenticate', 'Bearer')
      throw new UnauthorizedException()
    }
    request.caller = caller
    return true
  }
}
