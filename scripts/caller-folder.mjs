/**
 * npm runs scripts in the folder of package.json. `npm start`, `npm run parley` and `npm run a2a` work in the folder where the user called
 * npm, so that paths and parley.yaml are found there. Preloaded (`node --import`).
 */
const { INIT_CWD: callerFolder } = process.env
if (callerFolder !== undefined) process.chdir(callerFolder)
