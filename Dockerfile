# One image for every service: the command selects which.
FROM node:20-bookworm-slim
WORKDIR /app
COPY package.json package-lock.json ./
COPY gateway/stubs gateway/stubs
RUN npm ci --omit=dev --ignore-scripts
COPY . .
RUN node almanac.js dashboard build
RUN mkdir -p /var/lib/almanac && chown node /var/lib/almanac
ENV HOST=0.0.0.0 DATA_DIR=/var/lib/almanac PATH=/app/node_modules/.bin:$PATH
USER node
EXPOSE 8080 8081 8082
ENTRYPOINT ["node", "almanac.js"]
CMD ["start"]
