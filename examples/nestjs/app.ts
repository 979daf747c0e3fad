/** The application: its own routes, and the module of the bots. */
import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { A2aModule } from './a2a.module.ts'

@Controller()
class AppController {
  @Get()
  home(): string {
    return 'The application'
  }
}

@Module({ imports: [A2aModule], controllers: [AppController] })
class AppModule {}

export async function createApp(): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: ['error', 'warn'] })
  // The parser of Nest refuses more than 100 kB, and messages may contain files.
  app.useBodyParser('json', { limit: '20mb' })
  return app
}
