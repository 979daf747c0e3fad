/** The journey of a newcomer with the packed packages. `package.full.test.ts` has all tests of them. */
import { checkFiveCommands } from './five-commands.ts'

checkFiveCommands()
