/** Imported by the module of the application. */
import { Module } from '@nestjs/common'
import { A2aAuthGuard } from './a2a-auth.guard.ts'
import { A2aController } from './a2a.controller.ts'
import { A2aService } from './a2a.service.ts'
import { AuthService } from './auth.service.ts'

@Module({ controllers: [A2aController], providers: [A2aService, A2aAuthGuard, AuthService] })
export class A2aModule {}
