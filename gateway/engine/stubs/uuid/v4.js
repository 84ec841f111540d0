'use strict';
// express-gateway 1.16 asks for `uuid/v4`; the releases that have that path carry an advisory.
const { randomUUID } = require('node:crypto');
module.exports = () => randomUUID();
