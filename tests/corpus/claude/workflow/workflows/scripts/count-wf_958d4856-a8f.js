export const meta = { name: 'count', description: 'count files', phases: [{title: 'Count'}] }
phase('Count')
const n = await agent('count the files for me')
log('got ' + n)
return {n}
