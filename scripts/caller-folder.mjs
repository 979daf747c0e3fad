/**
 * npm runs scripts in the folder of package.json. `npm start`, `npm run parley` and `npm run a2a` work in the folder where the user called
 * npm, so that paths and parley.yaml are found there. Preloaded (`node --import`).
 */
const { INIT_CWD: callerFolder } = process.env
if (callerFolder !== undefined) process.chdir(callerFolder)

// For the commands that they print: a clone has no `parley` and no `a2a` in the path.
process.env.PARLEY_COMMAND = 'npm run parley --'
process.env.A2A_COMMAND = 'npm run a2a --'
