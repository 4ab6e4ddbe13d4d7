/** EX_CONFIG of sysexits.h: another start cannot help. `npm start` gives up. */
export const configurationFault = 78;
