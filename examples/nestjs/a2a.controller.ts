/** The routes of the bots: the card for everybody, all else for callers that the guard lets in. */
import {
  All,
  Controller,
  ForbiddenException,
  Get,
  Headers,
  type MessageEvent,
  Param,
  Post,
  Req,
  Res,
  Sse,
  UseGuards,
} from '@nestjs/common'
import type { Response } from 'express'
import type { Observable } from 'rxjs'
import { A2aAuthGuard, type A2aRequest } from './a2a-auth.guard.ts'
import { A2aService } from './a2a.service.ts'
import { AuthService, type BotCaller } from './auth.service.ts'

@Controller('a2a/:bot')
export class A2aController {
  constructor(
    private readonly a2a: A2aService,
    private readonly auth: AuthService,
  ) {}

  @Get(['agent-card', '.well-known/agent-card.json', '.well-known/agent.json', '.well-known/agent'])
  card(@Req() request: A2aRequest, @Res() response: Response): void {
    this.a2a.handle(request, response)
  }

  /** A key for programs, which only a user may create. */
  @Post('api-key/generate')
  @UseGuards(A2aAuthGuard)
  generateKey(@Param('bot') bot: string, @Req() { caller }: A2aRequest): { readonly apiKey: string } {
    if (caller?.bot !== undefined) throw new ForbiddenException()
    return { apiKey: this.auth.createKey(bot) }
  }

  /** The events of a task for the pages of the application, whose EventSource resumes by itself. */
  @Sse('tasks/:task/events')
  @UseGuards(A2aAuthGuard)
  events(
    @Param('bot') bot: string,
    @Param('task') task: string,
    @Req() { caller }: A2aRequest,
    @Headers('last-event-id') lastEventId?: string,
  ): Promise<Observable<MessageEvent>> {
    return this.a2a.events(bot, task, caller as BotCaller, lastEventId)
  }

  /** Every version and binding of A2A. It writes the response itself. */
  @All(['', '*path'])
  @UseGuards(A2aAuthGuard)
  call(@Req() request: A2aRequest, @Res() response: Response): void {
    this.a2a.handle(request, response, request.caller)
  }
}
